"""Creation of gold labels (one row per question, checkpoint and annotator), and selection of the final label."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memflow.benchmarks.comem.config import UNKNOWN, CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextQuestion, visible_counts
from memflow.benchmarks.domains import Domain
from memflow.records import GoldLabel

ANNOTATOR_PRECEDENCE = ("verifier", "annotator", "rule", "published")
"""Whose label is final where several annotators gave one; the first counts."""


def labels_from_source(
    annotator: str, domain: Domain, contexts: Sequence[Context], config: CoMemConfig
) -> list[GoldLabel]:
    """Return the labels of every valid question at checkpoints 1 and later, either by `rule` or as `published`."""
    return [
        label
        for context in contexts
        for asked in context.valid_questions
        for label in drop_unanswerable(asked, _make_labels(annotator, domain, context, asked, config))
    ]


def dropped_by_source(domain: Domain, contexts: Sequence[Context], config: CoMemConfig) -> list[GoldLabel]:
    """Return one label with the reason for each question that the source data set excludes."""
    return [
        replace(
            label,
            answer=None if asked.answer is None else str(asked.answer),
            dropped=asked.dropped,
        )
        for context in contexts
        for asked in context.questions
        if asked.dropped is not None
        for label in empty_labels("published", domain, context, asked, config)
    ]


def empty_labels(
    made_by: str, domain: Domain, context: Context, asked: ContextQuestion, config: CoMemConfig
) -> list[GoldLabel]:
    """Return labels without answers for all checkpoints of a question except checkpoint 0."""
    return [
        GoldLabel(
            domain=domain.name,
            question_id=context.question_id(asked),
            episode_id=context.context_id,
            checkpoint=number,
            made_by=made_by,
            visible=index,
        )
        for number, index in enumerate(visible_counts(context, asked, config)[1:], start=1)
    ]


def labels_by_question(labels: Iterable[GoldLabel]) -> Mapping[str, list[GoldLabel]]:
    """Return the labels of each question, by question id."""
    found: dict[str, list[GoldLabel]] = defaultdict(list)
    for label in labels:
        found[label.question_id].append(label)
    return found


def final_labels(labels: Iterable[GoldLabel]) -> Mapping[int, GoldLabel]:
    """Return one question's final label by checkpoint: that of the first of ANNOTATOR_PRECEDENCE."""
    ordered = sorted(labels, key=lambda label: ANNOTATOR_PRECEDENCE.index(label.made_by), reverse=True)
    return {label.checkpoint: label for label in ordered}


def drop_unanswerable(asked: ContextQuestion, labels: Iterable[GoldLabel]) -> list[GoldLabel]:
    """Return a question's labels, marked as dropped if an answer is unknown and no option means this."""
    labels = list(labels)
    if asked.unknown_option is not None:
        return labels
    without = [label.checkpoint for label in final_labels(labels).values() if label.answer == UNKNOWN]
    if not without:
        return labels
    at = ", ".join(str(checkpoint) for checkpoint in sorted(without))
    return [
        replace(label, dropped=f"no option is correct at checkpoint {at}, where the answer is unknown")
        for label in labels
    ]


def _make_labels(
    annotator: str, domain: Domain, context: Context, asked: ContextQuestion, config: CoMemConfig
) -> Iterator[GoldLabel]:
    for label in empty_labels(annotator, domain, context, asked, config):
        answer, reason = asked.label_at(label.visible), None
        if annotator == "published":
            answer = "" if asked.answer is None else str(asked.answer)
            if not answer:
                reason = f"{label.question_id} is published without an answer"
        elif not asked.known:
            reason = (
                f"{label.question_id} has no rule-based label: the source does not state when an answer "
                "becomes correct"
            )
        yield replace(label, answer=answer if reason is None else None, reason=reason)
