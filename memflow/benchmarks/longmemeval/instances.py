"""The records of the published files: a question with its history, as read and validated.

turns.py and probes.py convert instances to rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, StrictFloat, StrictInt, model_validator

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.config import parse_config
from memflow.benchmarks.longmemeval.known_errors import KNOWN_ERRORS
from memflow.benchmarks.longmemeval.types import is_abstention
from memflow.benchmarks.published_file import Said, valid_records
from memflow.fingerprint import digest
from memflow.records import Record


def _is_date(text: str) -> str:
    try:
        parse_date(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a date; write it in the form 2023/05/30 (Tue) 23:40") from None
    return text


Date = Annotated[str, AfterValidator(_is_date)]


def parse_date(text: str) -> datetime:
    """Return the time of a published date. The name of the day is not compared with the date."""
    day, _, rest = text.partition(" (")
    return datetime.strptime(f"{day} {rest.partition(') ')[2]}", "%Y/%m/%d %H:%M")


class PublishedMessage(BaseModel):
    """A message of a session. `has_answer` is gold."""

    role: Literal["user", "assistant"]
    content: str
    has_answer: bool = False


@dataclass(frozen=True)
class Session:
    """A dated chat of a history. `number` is its position in the published list, from 1."""

    number: int
    session_id: str
    date: str
    messages: Sequence[PublishedMessage]


class Instance(BaseModel):
    """A question with its history. The gold may be a number in the published files."""

    question_id: Said
    question_type: Literal[
        "single-session-user",
        "single-session-assistant",
        "single-session-preference",
        "multi-session",
        "temporal-reasoning",
        "knowledge-update",
    ]
    question: Said
    answer: Said | StrictInt | StrictFloat
    question_date: Date
    haystack_session_ids: list[Said]
    haystack_dates: list[Date]
    haystack_sessions: list[list[PublishedMessage]]
    answer_session_ids: list[str]

    @model_validator(mode="after")
    def _parallel(self) -> Self:
        sizes = {len(self.haystack_session_ids), len(self.haystack_dates), len(self.haystack_sessions)}
        if len(sizes) > 1:
            raise ValueError(
                f"the history has {len(self.haystack_sessions)} sessions, {len(self.haystack_session_ids)} ids and "
                f"{len(self.haystack_dates)} dates; the three lists must be equally long"
            )
        if not any(self.haystack_sessions):
            raise ValueError("the history has no message; add a session with a message")
        return self

    @property
    def key(self) -> str:
        """The name of the episode, which does not reveal that a question is an abstention question."""
        return f"q{digest('longmemeval', self.question_id)[:12]}"

    @property
    def abstains(self) -> bool:
        """Whether the history has no answer to the question."""
        return is_abstention(self.question_id)

    def sessions(self) -> list[Session]:
        """Return the sessions with messages in order of time; sessions of equal time in the published order."""
        parts = zip(self.haystack_session_ids, self.haystack_dates, self.haystack_sessions, strict=True)
        found = [Session(number, *part) for number, part in enumerate(parts, 1) if part[2]]
        return sorted(found, key=lambda session: parse_date(session.date))

    def evidence_sessions(self) -> list[Session]:
        """Return the sessions that the question is about, in order of time."""
        return [session for session in self.sessions() if session.session_id in self.answer_session_ids]

    def message_id(self, session: Session, place: int) -> str:
        """Return the id of a message by its place in the session, from 1. It contains no published id, which is gold.

        The last letter is the role, by which retrieval metrics find the user's turns.
        """
        return f"{self.key}/s{session.number:03d}/t{place:02d}{session.messages[place - 1].role[0]}"

    def played(self, session: Session) -> Iterator[tuple[int, PublishedMessage]]:
        """Yield (place from 1, message) for each message that is given to the memory: all that are not blank."""
        for place, message in enumerate(session.messages, 1):
            if message.content.strip():
                yield place, message


class Heading(BaseModel):
    """The part of a record that determines whether its question is asked. `haystack_sessions` is counted only."""

    question_id: str
    question_type: str
    haystack_sessions: list[Any]


def read_instances(domain: Domain, records: Sequence[Record]) -> Iterator[Instance]:
    """Yield the questions of a domain in the published order: all, or a sample with the published shares of types.

    A question is parsed when it is reached, since the histories of all questions do not fit into memory.
    """
    asked = asked_records(domain, records)
    return (Instance.model_validate_json(record.content) for record in asked)


def asked_records(domain: Domain, records: Sequence[Record]) -> list[Record]:
    """Return the records of the questions that are asked in a domain, in the published order."""
    excludes = parse_config(domain).known_errors == "exclude"
    valid = {
        record.record_id: record
        for record in valid_records(records)
        if not (excludes and record.record_id in KNOWN_ERRORS)
    }
    if not domain.limit:
        return list(valid.values())
    types = {
        name: Heading.model_validate_json(record.content).question_type for name, record in valid.items()
    }
    wanted = _sample(types, domain.limit, domain.seed)
    return [record for name, record in valid.items() if name in wanted]


def _sample(types: Mapping[str, str], limit: int, seed: int) -> set[str]:
    """Return `limit` question ids with the shares of types of all. A smaller sample is a part of a larger one."""
    by_type: dict[str, list[str]] = {}
    for name in sorted(types, key=lambda name: digest(seed, name)):
        by_type.setdefault(types[name], []).append(name)
    places = {
        name: ((number + 0.5) / len(members), kind)
        for kind, members in by_type.items()
        for number, name in enumerate(members)
    }
    return set(sorted(types, key=lambda name: places[name])[:limit])
