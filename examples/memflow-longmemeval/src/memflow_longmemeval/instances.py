"""The records of the published files: a question with its history, as read and validated.

turns.py and probes.py convert instances to rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, StrictFloat, StrictInt, model_validator

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import Said, valid_records
from memflow.fingerprint import digest
from memflow.records import Record
from memflow_longmemeval.config import parse_config
from memflow_longmemeval.known_errors import KNOWN_ERRORS
from memflow_longmemeval.types import is_abstention


def _is_date(text: str) -> str:
    try:
        parse_date(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a date of the form 2023/05/30 (Tue) 23:40") from None
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
            raise ValueError("the history has no message")
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
        """Yield the place and the message of each message that is given to the memory: all that are not blank."""
        for place, message in enumerate(session.messages, 1):
            if message.content.strip():
                yield place, message


def read_instances(domain: Domain, records: Sequence[Record]) -> list[Instance]:
    """Return the questions of a domain in the published order: all, or a sample with the published shares of types."""
    config = parse_config(domain)
    valid = [Instance.model_validate_json(record.content) for record in valid_records(records)]
    if config.known_errors == "exclude":
        valid = [each for each in valid if each.question_id not in KNOWN_ERRORS]
    return _sample(valid, domain.limit, domain.seed) if domain.limit else valid


def _sample(instances: Sequence[Instance], limit: int, seed: int) -> list[Instance]:
    """Return `limit` instances with the shares of types of all. A smaller sample is a part of a larger one."""
    by_type: dict[str, list[Instance]] = {}
    for each in sorted(instances, key=lambda one: digest(seed, one.question_id)):
        by_type.setdefault(each.question_type, []).append(each)
    places = {
        each.question_id: ((number + 0.5) / len(members), kind)
        for kind, members in by_type.items()
        for number, each in enumerate(members)
    }
    chosen = sorted(instances, key=lambda one: places[one.question_id])[:limit]
    wanted = {each.question_id for each in chosen}
    return [each for each in instances if each.question_id in wanted]
