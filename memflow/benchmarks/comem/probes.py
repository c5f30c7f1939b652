"""Conversion of contexts and gold labels to probes: one per kept question and checkpoint, including checkpoint 0."""

from collections.abc import Iterator, Mapping, Sequence

from memflow.benchmarks.comem.annotation.labels import final_labels, labels_by_question
from memflow.benchmarks.comem.config import UNKNOWN, CoMemConfig
from memflow.benchmarks.comem.contexts import (
    Context,
    ContextQuestion,
    truncation_indices,
    visible_counts,
)
from memflow.records import GoldLabel, Probe


def make_probes(
    domain: str, contexts: Sequence[Context], labels: Sequence[GoldLabel], config: CoMemConfig
) -> Iterator[Probe]:
    """Yield the probes, ordered by context, question and checkpoint.

    A dropped question has no probes. A failed label quarantines its probe.
    """
    by_question = labels_by_question(labels)
    for context in contexts:
        for asked in context.questions:
            question_labels = by_question.get(context.question_id(asked), [])
            if any(label.dropped is not None for label in question_labels):
                continue
            yield from _of(domain, context, asked, final_labels(question_labels), config)


def _of(
    domain: str,
    context: Context,
    asked: ContextQuestion,
    labels: Mapping[int, GoldLabel],
    config: CoMemConfig,
) -> Iterator[Probe]:
    right = {number: label.answer for number, label in labels.items()}
    guess = 1 if config.guess_key == "first" else len(config.checkpoints)
    reached, seen = truncation_indices(context, config), visible_counts(context, asked, config)
    previous, current = "", ""
    failed = next((label.reason for label in labels.values() if label.reason is not None), None)
    for number, index in enumerate(seen):
        answer = right.get(number or guess)
        gold = asked.unknown_option if answer == UNKNOWN else int(answer) if answer else None
        known = asked.known_at(index)
        # Checkpoint 0 has no gold context, because no message is visible.
        revealed = asked.options[gold - 1] if number and gold is not None else ""
        if revealed != current:
            previous, current = current or revealed, revealed
        yield Probe(
            domain=domain,
            probe_id=f"{context.question_id(asked)}/c{number}",
            question_id=context.question_id(asked),
            opens=not number,
            episode_id=context.context_id,
            checkpoint=number,
            after=context.message_id(index - 1) if 0 < index < reached[number] else None,
            kind="choice",
            dataset=context.dataset,
            category=asked.category,
            language=context.language,
            asked_at=asked.asked_at,
            metric="accuracy",
            question=asked.question,
            options=list(asked.options),
            variables=[],
            gold="" if gold is None else str(gold),
            revealed=revealed,
            previous=previous,
            # The evidence of a rule holds for every annotator with the same answer.
            evidence=[context.message_id(line) for line in known.evidence]
            if known and str(known.answer) == answer
            else [],
            reason=context.reason or asked.reason or failed,
        )
