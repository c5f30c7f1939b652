"""AMemGym's published users (ICLR 2026) as contexts: what they say first in every session, period by period.

A session of a context is a period. The published file tells which values each message lets be known, and for which
values each option is the answer: from the message on that tells the last value a question needs, the option for these
values is right, and each message that tells another value brings another option. What a user asks an assistant to do
besides, and what it replies, is AMemGym's own (benchmarks/amemgym); here everything is given.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from memflow.benchmarks.amemgym.load import read_users
from memflow.benchmarks.amemgym.published import Asked as Published
from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.comem.config import Parameters
from memflow.benchmarks.comem.contexts import Asked, Context, Known, Line
from memflow.benchmarks.comem.truncation import visible
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import File
from memflow.records import Record


def read(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    """A record per user. Raises BadInput."""
    return read_users(file.dataset, file.source, file.content)


def contexts(domain: Domain, records: Sequence[Record], parameters: Parameters) -> list[Context]:
    """A context per user."""
    return [
        _context(record.dataset, PublishedUser.model_validate_json(record.content), parameters)
        for record in records
    ]


def _context(dataset: str, user: PublishedUser, parameters: Parameters) -> Context:
    lines = tuple(
        Line(said.query, session=number, sent_at=said.session_time)
        for number, period in enumerate(user.periods)
        for said in period.sessions
    )
    context = Context(user.id, dataset, lines, ())
    told = [said.exposed_states for period in user.periods for said in period.sessions]
    asked = (
        _asked(f"q{number}", published, told, context, parameters)
        for number, published in enumerate(user.qas)
    )
    return replace(context, asked=tuple(asked))


def _asked(
    name: str, published: Published, told: Sequence[dict[str, str]], context: Context, parameters: Parameters
) -> Asked:
    known: list[Known] = []
    without: list[int] = []
    for since, answer, evidence in _steps(published, told):
        if answer is None:
            without.append(since)
        else:
            known.append(Known(since, answer, evidence))
    asked = Asked(
        name,
        published.query,
        tuple(choice.answer for choice in published.answer_choices),
        known[-1].answer if known else None,
        known=tuple(known),
    )
    return replace(asked, reason=_reason(asked, without, context, parameters))


def _steps(
    published: Published, told: Sequence[dict[str, str]]
) -> Iterator[tuple[int, int | None, tuple[int, ...]]]:
    """Whenever other values of all that a question needs are known: since how many messages, the option for them, if
    there is one, and the messages that tell them."""
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


def _reason(asked: Asked, without: Sequence[int], context: Context, parameters: Parameters) -> str | None:
    """Why no key can be told: the values known at a checkpoint have no option, as two of them change one by one."""
    for number, index in enumerate(visible(context, asked, parameters)):
        known = asked.told(index)
        since = max((each for each in without if each <= index), default=0)
        if since > (known.since if known else 0):
            said = json.dumps(asked.question, ensure_ascii=False)
            return f"{said} has no option for the values that are known at checkpoint {number}"
    return None
