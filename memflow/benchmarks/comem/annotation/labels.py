"""What is right at each checkpoint: a row for every question, checkpoint and hand, and the last word among them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memflow.benchmarks.comem.config import UNKNOWN, Parameters
from memflow.benchmarks.comem.contexts import Asked, Context
from memflow.benchmarks.comem.truncation import visible
from memflow.benchmarks.domains import Domain
from memflow.records import GoldLabel

LAST_WORD = ("verifier", "annotator", "imported", "rule", "published")
"""Whose key counts where several hands gave one, the first of these."""


def keys_by(
    hand: str, domain: Domain, contexts: Sequence[Context], parameters: Parameters
) -> list[GoldLabel]:
    """The keys of every sound question by `rule` or as `published`, at each checkpoint but 0."""
    return [
        key
        for context in contexts
        for asked in context.sound
        for key in kept(asked, _keys(hand, domain, context, asked, parameters), parameters)
    ]


def left_out(domain: Domain, contexts: Sequence[Context], parameters: Parameters) -> list[GoldLabel]:
    """The questions that their sources drop, as rows that say why: nobody has to say what is right for them."""
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
        for number, index in enumerate(visible(context, asked, parameters))
        if number
    ]


def by_question(keys: Iterable[GoldLabel]) -> Mapping[str, list[GoldLabel]]:
    """The keys of each question, by its id."""
    found: dict[str, list[GoldLabel]] = defaultdict(list)
    for key in keys:
        found[key.question_id].append(key)
    return found


def final(keys: Iterable[GoldLabel]) -> Mapping[int, GoldLabel]:
    """Of one question's keys, the last word at each checkpoint."""
    ordered = sorted(keys, key=lambda key: LAST_WORD.index(key.made_by), reverse=True)
    return {key.checkpoint: key for key in ordered}


def kept(asked: Asked, keys: Iterable[GoldLabel], parameters: Parameters) -> list[GoldLabel]:
    """One question's keys, with why it is dropped: it has no option for a checkpoint at which there is no telling."""
    keys = list(keys)
    if parameters.unknown == "option" or asked.unknowing is not None:
        return keys
    without = [key.checkpoint for key in final(keys).values() if key.answer == UNKNOWN]
    if not without:
        return keys
    at = ", ".join(str(checkpoint) for checkpoint in sorted(without))
    return [
        replace(key, dropped=f"no option is right at checkpoint {at}, where there is no telling")
        for key in keys
    ]


def _keys(
    hand: str, domain: Domain, context: Context, asked: Asked, parameters: Parameters
) -> Iterator[GoldLabel]:
    for number, index in enumerate(visible(context, asked, parameters)):
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
