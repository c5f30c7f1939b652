"""Conversion of AMemGym's published users (ICLR 2026) to contexts: the first messages of a user. A session is a period.

The answer to a question is known from the message that exposes the last missing value. Each later message that exposes
another value changes the answer.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memflow.benchmarks.amemgym.load import read_users as read
from memflow.benchmarks.amemgym.published import PublishedQuestion, PublishedUser
from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import (
    Context,
    ContextMessage,
    ContextQuestion,
    KnownAnswer,
    visible_counts,
)
from memflow.benchmarks.domains import Domain
from memflow.records import Record

__all__ = ["contexts", "read"]


def contexts(domain: Domain, records: Sequence[Record], config: CoMemConfig) -> list[Context]:
    """Return one context per published AMemGym user."""
    return [
        _context(record.dataset, PublishedUser.model_validate_json(record.content), config)
        for record in records
    ]


def _context(dataset: str, user: PublishedUser, config: CoMemConfig) -> Context:
    lines = tuple(
        ContextMessage(
            said.query,
            session=number,
            sent_at=said.session_time,
            exposes=json.dumps(said.exposed_states or {}, ensure_ascii=False),
        )
        for number, period in enumerate(user.periods)
        for said in period.sessions
    )
    context = Context(user.id, dataset, lines, ())
    told = [said.exposed_states or {} for period in user.periods for said in period.sessions]
    asked = (
        _context_question(f"q{number}", published, told, context, config)
        for number, published in enumerate(user.qas)
    )
    return replace(context, questions=tuple(asked))


def _context_question(
    name: str,
    published: PublishedQuestion,
    told: Sequence[dict[str, str]],
    context: Context,
    config: CoMemConfig,
) -> ContextQuestion:
    known: list[KnownAnswer] = []
    without: list[int] = []
    for since, answer, evidence in _answer_changes(published, told):
        if answer is None:
            without.append(since)
        else:
            known.append(KnownAnswer(since, answer, evidence))
    asked = ContextQuestion(
        name,
        published.query,
        tuple(choice.answer for choice in published.answer_choices),
        known[-1].answer if known else None,
        known=tuple(known),
        variables=tuple(published.required_info),
        variants=tuple(json.dumps(choice.state, ensure_ascii=False) for choice in published.answer_choices),
    )
    return replace(asked, reason=_reason(asked, without, context, config))


def _answer_changes(
    published: PublishedQuestion, told: Sequence[dict[str, str]]
) -> Iterator[tuple[int, int | None, tuple[int, ...]]]:
    """Yield each change of a question's answer: number of messages so far, option number, positions of evidence.

    The option number is None if no option has the values of the state variables at this message.
    """
    options = [choice.state for choice in published.answer_choices]
    values: dict[str, str] = {}
    told_by: dict[str, int] = {}
    for place, exposed in enumerate(told):
        for name in published.required_info:
            if name in exposed:
                values[name], told_by[name] = exposed[name], place
        if len(values) < len(published.required_info) or not exposed.keys() & values.keys():
            continue
        now = [values[name] for name in published.required_info]
        answer = options.index(now) + 1 if now in options else None
        yield place + 1, answer, tuple(sorted(set(told_by.values())))


def _reason(
    asked: ContextQuestion, without: Sequence[int], context: Context, config: CoMemConfig
) -> str | None:
    """Return the reason why a question has no label at some checkpoint, or None if all checkpoints have a label.

    A label is missing if no option has the values known there, for example between the changes of two values.
    """
    for number, index in enumerate(visible_counts(context, asked, config)):
        known = asked.known_at(index)
        since = max((each for each in without if each <= index), default=0)
        if since > (known.since if known else 0):
            said = json.dumps(asked.question, ensure_ascii=False)
            return f"{said} has no option for the values that are known at checkpoint {number}"
    return None
