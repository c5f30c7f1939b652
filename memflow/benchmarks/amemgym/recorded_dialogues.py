"""Readers of recorded dialogues in memflow's format or in the format of the published code.

A record has the dialogues of one user in one period. off_policy.py matches them with the users of a domain.
memflow/run/recording.py writes memflow's format.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from memflow.benchmarks.models import PublishedModel
from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.errors import BadInput
from memflow.run import recording
from memflow.run.recording import HEADER

PREFIX = "run:"
"""Prefix of the record ids of recorded dialogues."""
_PUBLISHED = re.compile(r"(?:^|/)(?P<user>[^/]+)/interactions(?:/period_(?P<period>\d+)|_by_period)\.json")
"""The published code writes a file per user and period; a user's files may be merged into one object by period."""
_PERIOD = re.compile(r"period_(\d+)")


class RecordedMessage(PublishedModel):
    """A recorded message. The field names are the names in the published code."""

    role: Literal["user", "assistant"]
    content: str = Field(min_length=1, max_length=10_000_000)


class RecordedDialogue(PublishedModel):
    """The sessions of one user in one period. `cut` lists the numbers of sessions that lack messages at the end."""

    user: str
    period: int
    sessions: list[list[RecordedMessage]]
    cut: list[int] = Field([])


_SESSIONS = TypeAdapter(list[list[RecordedMessage]])


def is_recorded(file: File) -> bool:
    """Return whether a file has recorded dialogues, by the published code's file name or by the file's first line."""
    return _PUBLISHED.search(file.source) is not None or (
        file.source.endswith(".jsonl") and recording.is_recording(file.text())
    )


def read_dialogues(file: File) -> Iterator[RawRecord]:
    """Yield the records of a file of recorded dialogues.

    Raises BadInput for a run of another benchmark, and for a file in memflow's format whose messages do not match the
    content hash in its first line.
    """
    published = _PUBLISHED.search(file.source)
    if published is not None:
        yield from _published_dialogues(published["user"], published["period"], file)
        return
    try:
        header, lines = recording.read(file.text())
    except BadInput as error:
        raise file.bad(str(error)) from error
    if header.benchmark != "amemgym":
        raise file.bad(
            f"the run was recorded with the benchmark {header.benchmark}, not amemgym. Use a run of an amemgym domain"
        )
    yield RawRecord("line 1", header.model_dump(), HEADER)
    for dialogue in _own_dialogues(header, lines):
        yield RawRecord(
            f"user {dialogue.user}, period {dialogue.period}", dialogue.model_dump(), _id(dialogue)
        )


def _id(dialogue: RecordedDialogue) -> str:
    return f"{PREFIX}{dialogue.user}/{dialogue.period}"


def _published_dialogues(user: str, period: str | None, file: File) -> Iterator[RawRecord]:
    """Yield the dialogues of a published file: those of one period, or of all periods if `period` is None."""
    document = file.whole("")
    if document.fault is not None or (period is None and not isinstance(document.content, dict)):
        fault = document.fault or "the file is not a JSON object of dialogues by period"
        yield replace(document, record_id=f"{PREFIX}{user}/{period or 'all periods'}", fault=fault)
        return
    by_period = document.content if period is None else {f"period_{period}": document.content}
    periods = (
        RawRecord(name, (name, sessions), f"{PREFIX}{user}/{name}") for name, sessions in by_period.items()
    )
    yield from parse_records(periods, partial(_parse, user))


def _parse(user: str, content: tuple[str, Any]) -> tuple[str, Any]:
    """Return the record id and the dialogue of one period, given (`period_NN`, sessions). Raises RecordFault."""
    name, sessions = content
    number = _PERIOD.fullmatch(name)
    if number is None:
        raise RecordFault(f"the key {name!r} names no period. Use keys such as period_00.")
    try:
        validated = _SESSIONS.validate_python(sessions)
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_input=False)[0]
        # The path of an error is (session number, message number, field).
        levels = ("session ", "message ", "", "")
        location = ", ".join(f"{level}{key}" for level, key in zip(levels, first_error["loc"], strict=False))
        raise RecordFault(f"{location or 'the list of sessions'}: {first_error['msg']}") from error
    dialogue = RecordedDialogue(user=user, period=int(number[1]), sessions=validated)
    return _id(dialogue), dialogue.model_dump()


def _own_dialogues(
    header: recording.Header, lines: Sequence[recording.RecordedMessage]
) -> Iterator[RecordedDialogue]:
    """Yield the messages of a run in memflow's format as dialogues, one per user and period."""
    sessions_by_period: dict[tuple[str, int], dict[int, list[recording.RecordedMessage]]] = {}
    for line in lines:
        sessions = sessions_by_period.setdefault((line.episode_id, line.checkpoint), {})
        sessions.setdefault(line.event, []).append(line)
    for (user, period), sessions in sessions_by_period.items():
        yield RecordedDialogue(
            user=user,
            period=period,
            sessions=[
                [RecordedMessage(role=line.role, content=line.text) for line in session]
                for session in sessions.values()
            ],
            cut=[
                number
                for number, session in enumerate(sessions.values())
                if session[0].message_id in header.cut
            ],
        )
