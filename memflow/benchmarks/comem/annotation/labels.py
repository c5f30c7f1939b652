"""Gold labels: one row per question, checkpoint and annotator, and which of them is final."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memflow.benchmarks.comem.config import UNKNOWN, CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextQuestion, visible_counts
from memflow.benchmarks.domains import Domain
from memflow.records import GoldLabel

ANNOTATOR_PRECEDENCE = ("verifier", "annotator", "imported", "rule", "published")
"""Whose label is final where several annotators gave one; the first counts."""


def labels_from_source(
    hand: str, domain: Domain, contexts: Sequence[Context], config: CoMemConfig
) -> list[GoldLabel]:
    """Return the labels of every valid question at checkpoints 1 and later, by `rule` or as `published`."""
    return [
        key
        for context in contexts
        for asked in context.sound
        for key in kept(asked, _keys(hand, domain, context, asked, config), config)
    ]


def left_out(domain: Domain, contexts: Sequence[Context], config: CoMemConfig) -> list[GoldLabel]:
    """Return rows for the questions that their source drops, with the reason."""
    return [
        GoldLabel(
            domain=domain.name,
            question_id=context.question_id(asked),
            episode_id=context.context_id,
            checkpoint=number,
            made_by="published",
            visible=index,
            answer=None if asked.answer is None else str(asked.answer),
            dropped=asked.dropped,
        )
        for context in contexts
        for asked in context.asked
        if asked.dropped is not None
        for number, index in enumerate(visible_counts(context, asked, config))
        if number
    ]


def labels_by_question(keys: Iterable[GoldLabel]) -> Mapping[str, list[GoldLabel]]:
    """Return the labels of each question, by its id."""
    found: dict[str, list[GoldLabel]] = defaultdict(list)
    for key in keys:
        found[key.question_id].append(key)
    return found


def final_labels(keys: Iterable[GoldLabel]) -> Mapping[int, GoldLabel]:
    """Return one question's final label at each checkpoint."""
    ordered = sorted(keys, key=lambda key: ANNOTATOR_PRECEDENCE.index(key.made_by), reverse=True)
    return {key.checkpoint: key for key in ordered}


def kept(asked: ContextQuestion, keys: Iterable[GoldLabel], config: CoMemConfig) -> list[GoldLabel]:
    """Return one question's labels, dropped where it has no option for a checkpoint at which the answer is unknown."""
    keys = list(keys)
    if config.unknown == "option" or asked.unknown_option is not None:
        return keys
    without = [key.checkpoint for key in final_labels(keys).values() if key.answer == UNKNOWN]
    if not without:
        return keys
    at = ", ".join(str(checkpoint) for checkpoint in sorted(without))
    return [
        replace(key, dropped=f"no option is right at checkpoint {at}, where there is no telling")
        for key in keys
    ]


def _keys(
    hand: str, domain: Domain, context: Context, asked: ContextQuestion, config: CoMemConfig
) -> Iterator[GoldLabel]:
    for number, index in enumerate(visible_counts(context, asked, config)):
        if not number:
            continue
        answer, reason = asked.key(index), None
        if hand == "published":
            answer = "" if asked.answer is None else str(asked.answer)
            if not answer:
                reason = f"{context.question_id(asked)} is published without an answer"
        elif not asked.known:
            reason = f"{context.question_id(asked)} has no rule: its source does not say from when on what is right"
        yield GoldLabel(
            domain=domain.name,
            question_id=context.question_id(asked),
            episode_id=context.context_id,
            checkpoint=number,
            made_by=hand,
            visible=index,
            answer=answer if reason is None else None,
            reason=reason,
        )
