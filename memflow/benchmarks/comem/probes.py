"""Contexts and their keys to probes: every question that was kept, at checkpoint 0 and at each of the others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memflow.benchmarks.comem.annotation.labels import by_question, final
from memflow.benchmarks.comem.config import UNKNOWN, Parameters
from memflow.benchmarks.comem.contexts import Asked, Context
from memflow.benchmarks.comem.truncation import indices, visible
from memflow.benchmarks.comem.wording import UNKNOWING
from memflow.records import GoldLabel, Probe


def probes_of(
    domain: str, contexts: Sequence[Context], keys: Sequence[GoldLabel], parameters: Parameters
) -> Iterator[Probe]:
    """By context, question and checkpoint. A question that was dropped is not asked; one that a hand failed at is a
    probe with its reason."""
    held_of = by_question(keys)
    for context in contexts:
        for asked in context.asked:
            held = held_of.get(context.question_id(asked), [])
            if any(key.dropped is not None for key in held):
                continue
            yield from _of(domain, context, asked, final(held), parameters)


def _of(
    domain: str, context: Context, asked: Asked, keys: Mapping[int, GoldLabel], parameters: Parameters
) -> Iterator[Probe]:
    right = {number: key.answer for number, key in keys.items()}
    if UNKNOWN in right.values() and asked.unknowing is None:
        added = UNKNOWING[context.language]
        asked = replace(
            asked, options=(*asked.options, added), true_of=(*asked.true_of, "") if asked.true_of else ()
        )
    guess = 1 if parameters.guess_key == "first" else len(parameters.checkpoints)
    reached, seen = indices(context, parameters), visible(context, asked, parameters)
    failed = next((key.reason for key in keys.values() if key.reason is not None), None)
    for number, index in enumerate(seen):
        answer = right.get(number or guess)
        gold = asked.unknowing if answer == UNKNOWN else int(answer) if answer else None
        known = asked.told(index)
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
            # At checkpoint 0 nobody is told anything: what is answered there is a guess.
            revealed=asked.options[gold - 1] if number and gold is not None else "",
            # What a rule rests on is evidence for whoever says the same.
            evidence=[context.message_id(line) for line in known.evidence]
            if known and str(known.answer) == answer
            else [],
            true_of=list(asked.true_of),
            reason=context.reason or asked.reason or failed,
        )
