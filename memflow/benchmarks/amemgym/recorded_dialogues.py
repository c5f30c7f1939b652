"""Readers of recorded dialogues in memflow's format or in the format of the published code.

A record has the dialogues of one user in one period. off_policy.py matches them with the users of a domain.
memflow/run/recording.py writes memflow's format.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from memflow.errors import BadInput
from memflow.run import recording
from memflow.run.recording import HEADER

PREFIX = "run:"
"""Prefix of the record ids of recorded dialogues."""
_PUBLISHED = re.compile(r"(?:^|/)(?P<user>[^/]+)/interactions(?:/period_(?P<period>\d+)|_by_period)\.json")
"""The published code writes a file per user and period; a user's files may be merged into one object by period."""
_PERIOD = re.compile(r"period_(\d+)")
T = TypeVar("T")


class RecordedMessage(BaseModel):
    """A recorded message. The field names are the names in the published code."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    role: Literal["user", "assistant"]
    content: str = Field(min_length=1, max_length=10_000_000)


class RecordedDialogue(BaseModel):
    """The sessions of one user in one period. `cut` lists the numbers of sessions that lack messages at the end."""

    model_config = ConfigDict(frozen=True)

    user: str
    period: int
    sessions: list[list[RecordedMessage]]
    cut: list[int] = []


_SESSIONS = TypeAdapter(list[list[RecordedMessage]])
_PERIODS = TypeAdapter(dict[str, list[list[RecordedMessage]]])


def may_be_recorded(source: str) -> bool:
    """Return whether a file with this name can contain recorded dialogues."""
    return source.endswith((".json", ".jsonl"))


def is_recorded(source: str, text: str) -> bool:
    """Return whether a file has recorded dialogues, by the published code's file name or by the file's first line."""
    published = _PUBLISHED.search(source) is not None
    return published or (source.endswith(".jsonl") and recording.is_recording(text))


def read_dialogues(source: str, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id and the content of each record of a file of recorded dialogues.

    Raises BadInput with the location and the fault.
    """
    published = _PUBLISHED.search(source)
    if published is not None:
        found = _published_dialogues(published["user"], published["period"], text)
    else:
        header, lines = recording.read(text)
        if header.benchmark != "amemgym":
            raise BadInput(
                f"the run was recorded with the benchmark {header.benchmark}, not amemgym. Use a run of "
                "an amemgym domain."
            )
        yield HEADER, header.model_dump()
        found = _own_dialogues(header, lines)
    for dialogue in found:
        yield f"{PREFIX}{dialogue.user}/{dialogue.period}", dialogue.model_dump()


def _published_dialogues(user: str, period: str | None, text: str) -> list[RecordedDialogue]:
    """Return the dialogues of a published file, which has one period or, if `period` is None, all periods."""
    if period is not None:
        return [RecordedDialogue(user=user, period=int(period), sessions=_parse(_SESSIONS, text))]
    found = []
    for name, sessions in _parse(_PERIODS, text).items():
        number = _PERIOD.fullmatch(name)
        if number is None:
            raise BadInput(f"the key {name!r} names no period. Use keys such as period_00.")
        found.append(RecordedDialogue(user=user, period=int(number[1]), sessions=sessions))
    return found


def _parse(shape: TypeAdapter[T], text: str) -> T:
    try:
        return shape.validate_json(text)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        names = ("session ", "message ", "", "")
        place = ", ".join(
            f"{name}{part}"
            for name, part in zip(names if shape is _SESSIONS else ("", *names), first["loc"], strict=False)
        )
        raise BadInput(
            f"{place or 'the list of sessions'}: {first['msg']}. Fix this value, or record the run again."
        ) from wrong


def _own_dialogues(
    header: recording.Header, lines: Sequence[recording.RecordedMessage]
) -> list[RecordedDialogue]:
    cut = set(header.cut)
    found: dict[tuple[str, int], dict[int, list[recording.RecordedMessage]]] = {}
    for line in lines:
        events = found.setdefault((line.episode_id, line.checkpoint), {})
        events.setdefault(line.event, []).append(line)
    return [
        RecordedDialogue(
            user=user,
            period=period,
            sessions=[
                [RecordedMessage(role=line.role, content=line.text) for line in session]
                for session in events.values()
            ],
            cut=[number for number, session in enumerate(events.values()) if session[0].message_id in cut],
        )
        for (user, period), events in found.items()
    ]
