"""Reading of HaluMem's users: one JSON object a line, or one user in a JSON file. Each damaged part costs itself."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.halumem.config import parse_config
from memflow.benchmarks.partial import OR_INVALID, InvalidPart
from memflow.benchmarks.published_file import File, Said, records_of, valid_records
from memflow.benchmarks.raw_records import RawRecord, parse_records
from memflow.records import Record

DATE = "%b %d, %Y, %H:%M:%S"
INTERFERENCE = "interference"


class PublishedMessage(BaseModel):
    """A message of a session."""

    role: Literal["user", "assistant"]
    content: Said
    timestamp: str = ""


class MemoryPoint(BaseModel):
    """A fact that a memory should extract from its session; of source `interference`, one that it should not."""

    memory_content: Said
    memory_type: str = ""
    memory_source: str = ""
    is_update: Any = "False"
    original_memories: list[str] = []
    importance: float = Field(ge=0, allow_inf_nan=False)

    @property
    def is_interference(self) -> bool:
        """Whether the assistant said it, and no memory should keep it as a fact."""
        return self.memory_source == INTERFERENCE

    @property
    def is_searched(self) -> bool:
        """Whether the memory is searched for it, as published: whatever is not the string False, with old facts."""
        return self.is_update != "False" and bool(self.original_memories)


class Evidence(BaseModel):
    """A fact that an answer rests on."""

    memory_content: Said


class PublishedQuestion(BaseModel):
    """A question that is asked right after its session."""

    question: Said
    answer: Said
    evidence: list[Evidence] = []
    difficulty: str = ""
    question_type: str = ""


class PublishedSession(BaseModel):
    """A session. One with `is_generated_qa_session` is other talk, which is written and not asked about.

    `session_index` is set in files with a part of a user's sessions.
    """

    session_index: int = 0
    start_time: str = ""
    end_time: str = ""
    is_generated_qa_session: bool = False
    dialogue: list[Annotated[PublishedMessage | InvalidPart, OR_INVALID]] = Field(min_length=1)
    memory_points: list[Annotated[MemoryPoint | InvalidPart, OR_INVALID]] = []
    questions: list[Annotated[PublishedQuestion | InvalidPart, OR_INVALID]] = []

    def messages(self) -> list[PublishedMessage]:
        """Return the valid messages."""
        return [message for message in self.dialogue if isinstance(message, PublishedMessage)]

    def text(self) -> str:
        """Return the dialogue as the judge sees it."""
        return "\n".join(
            f"[{message.timestamp}] {message.role}: {message.content}" for message in self.messages()
        )

    def points(self) -> list[MemoryPoint]:
        """Return the valid points of a session that is asked about."""
        points = [] if self.is_generated_qa_session else self.memory_points
        return [point for point in points if isinstance(point, MemoryPoint)]


class PublishedUser(BaseModel):
    """A user, whose sessions are an episode."""

    uuid: Said
    sessions: list[Annotated[PublishedSession | InvalidPart, OR_INVALID]] = Field(min_length=1)

    @property
    def first(self) -> int:
        """The number of the first session, above 0 in a file with a later part of the user's sessions."""
        first = self.sessions[0]
        return first.session_index if isinstance(first, PublishedSession) else 0

    @property
    def record_id(self) -> str:
        """The user's id, with the number of the first session of a later part."""
        return f"{self.uuid}/{self.first}" if self.first else self.uuid


def faults(user: PublishedUser) -> Iterator[tuple[str, str]]:
    """Yield the location and the fault of each invalid part of a user."""
    for number, session in enumerate(user.sessions):
        where = f"{user.uuid}, session {number}"
        if isinstance(session, InvalidPart):
            yield where, session.fault
            continue
        for name in ("dialogue", "memory_points", "questions"):
            for place, part in enumerate(getattr(session, name)):
                if isinstance(part, InvalidPart):
                    yield f"{where}, {name} {place}", part.fault


def date_of(text: str) -> str | None:
    """Return a published date as an ISO date with time, or the text if it has another form; None without a text."""
    try:
        return f"{datetime.strptime(text.strip(), DATE):%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return text.strip() or None


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return one record per user. `files` maps paths in the data folder to files. Raises BadInput."""
    return records_of(dataset, files, lambda source: _read)


def _read(file: File) -> Iterator[RawRecord]:
    users = file.lines() if file.source.endswith(".jsonl") else iter([file.whole("")])
    return parse_records(users, lambda content: (PublishedUser.model_validate(content).record_id, content))


def load_users(domain: Domain, records: Sequence[Record]) -> list[tuple[str, PublishedUser]]:
    """Return the users of a domain with the names of their data sets, up to the limits of users and of sessions.

    The parts of a user are joined in the order of their first sessions.
    """
    limit = parse_config(domain).sessions or None
    users: dict[str, list[tuple[str, PublishedUser]]] = {}
    for record in valid_records(records):
        user = PublishedUser.model_validate(json.loads(record.content))
        users.setdefault(user.uuid, []).append((record.dataset, user))
    found = []
    for parts in [*users.values()][: domain.limit or None]:
        parts.sort(key=lambda part: part[1].first)
        dataset, first = parts[0]
        sessions = [session for _, user in parts for session in user.sessions]
        found.append((dataset, first.model_copy(update={"sessions": sessions[:limit]})))
    return found


def count_contents(records: Sequence[Record]) -> Contents:
    """Return the numbers of users, sessions, messages, points and questions, and the quarantined parts."""
    users = [PublishedUser.model_validate(json.loads(record.content)) for record in valid_records(records)]
    sessions = [session for user in users for session in user.sessions]
    valid = [session for session in sessions if isinstance(session, PublishedSession)]
    return Contents(
        {
            "users": len({user.uuid for user in users}) + len(records) - len(users),
            "sessions": len(sessions),
            "messages": sum(len(session.dialogue) for session in valid),
            "points": sum(len(session.memory_points) for session in valid),
            "questions": sum(len(session.questions) for session in valid),
        },
        [fault for user in users for fault in faults(user)],
    )
