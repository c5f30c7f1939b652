"""The file format of a recorded run: the transcript of one domain and assistant, and its provenance.

The file is JSON Lines in UTF-8: a header, then one message per line in order. Messages whose request failed are
omitted; the header lists the affected sessions. Benchmarks define how they read such a file.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.records import Record, TranscriptMessage

FORMAT = "memflow transcript"
HEADER = "run:header"
"""The record id of the header of a recorded run."""
SCRIPTED = "scripted"
"""The metadata key of a partition that states whether a scripted chat contributed to it."""

IMPORTED = "imported"
"""The metadata key of a partition that names the recorded run of other code that its rows are of."""

T = TypeVar("T", bound=BaseModel)
Name = Field(max_length=1000)


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Source(_Shape):
    """A data set of a recorded run. `sha256` contains the checksums of its files."""

    dataset: str = Name
    sha256: list[str] = Field(max_length=10_000)
    licence: str = Name
    origin: str = Name


class RecordingFormat(_Shape):
    """The format and version of a recorded run's file."""

    format: Literal["memflow transcript"]
    version: Literal[1]


class RecordedRun(_Shape):
    """The provenance of a recorded run: the models and the data sets."""

    benchmark: str = Name
    domain: str = Name
    assistant: str = Name
    model: str = Field(max_length=1000, description="The model that answered, as the settings name it.")
    fingerprint: str = Field(max_length=1000, description="That model's fingerprint.")
    simulator: str = Field(max_length=1000, description="The simulator's fingerprint.")
    scripted: bool = Field(description="A scripted chat, not a language model, had a hand in it.")
    run: str = Field(max_length=1000, description="The Dagster run that played it.")
    sources: list[Source] = Field(max_length=100)


class Header(RecordedRun, RecordingFormat):
    """The first line of a recorded run's file.

    `digest` is the content hash of the messages. `cut` lists the first messages of sessions with omitted messages.
    """

    episodes: int = Field(ge=0)
    messages: int = Field(ge=0)
    digest: str = Name
    cut: list[str] = Field(max_length=1_000_000)


class RecordedMessage(_Shape):
    """One message of a recorded run: a line of the file after the header."""

    episode_id: str = Field(min_length=1, max_length=1000)
    checkpoint: int = Field(ge=0)
    event: int = Field(ge=0)
    position: int = Field(ge=0)
    message_id: str = Field(min_length=1, max_length=1000)
    role: Literal["user", "assistant"]
    speaker: str | None = Field(None, max_length=1000)
    text: str = Field(max_length=10_000_000)
    sent_at: str | None = Field(None, max_length=100)


def recording_text(run: RecordedRun, transcript: Iterable[TranscriptMessage]) -> str:
    """Return the text of a recorded run's file. Raises BadInput if the transcript has no message."""
    transcript = list(transcript)
    lines = [_recorded_message(row) for row in transcript if row.reason is None]  # others have no message
    if not lines:
        raise BadInput(
            f"the assistant {run.assistant} has no messages in the domain {run.domain}. Rerun the domain with a "
            "memory that plays episodes."
        )
    # Another player has to know which sessions ended early because a message failed.
    first_message_ids = {
        (row.episode_id, row.event): row.message_id for row in transcript if row.position == 0
    }
    cut_session_ids = [
        first_message_ids[row.episode_id, row.event] for row in transcript if row.reason is not None
    ]
    header = Header(
        format="memflow transcript",
        version=1,
        **dict(run),
        episodes=len({line.episode_id for line in lines}),
        messages=len(lines),
        digest=_digest(lines),
        cut=list(dict.fromkeys(cut_session_ids)),
    )
    return "".join(f"{_json(line)}\n" for line in (header, *lines))


def is_recording(text: str) -> bool:
    """Return whether the first line of a file is the header of a recorded run."""
    try:
        header = json.loads(text.partition("\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and header.get("format") == FORMAT


def read(text: str) -> tuple[Header, list[RecordedMessage]]:
    """Return the header and messages of a recorded run. Raises BadInput with the line number and the reason."""
    rows = text.split("\n")
    header = _read(Header, rows[0], 1)
    lines = [_read(RecordedMessage, row, number) for number, row in enumerate(rows[1:], 2) if row.strip()]
    if len(lines) != header.messages:
        raise BadInput(
            f"the file has {len(lines)} messages, but its first line states {header.messages}. Export the run again."
        )
    if _digest(lines) != header.digest:
        raise BadInput("the messages do not match the content hash in the first line. Export the run again.")
    return header, lines


def scripted_meta(records: Iterable[Record]) -> dict[str, str]:
    """Return `{SCRIPTED: "yes"}` if a scripted chat generated recorded dialogues of a data set, otherwise {}."""
    headers = (record.content for record in records if record.record_id == HEADER)
    scripted = any(Header.model_validate_json(header).scripted for header in headers)
    return {SCRIPTED: "yes"} if scripted else {}


def _recorded_message(row: TranscriptMessage) -> RecordedMessage:
    return RecordedMessage(**{name: getattr(row, name) for name in RecordedMessage.model_fields})


def _digest(lines: Sequence[RecordedMessage]) -> str:
    return digest([line.model_dump() for line in lines])


def _json(value: BaseModel) -> str:
    return json.dumps(value.model_dump(), ensure_ascii=False)


def _read(model: type[T], text: str, number: int) -> T:
    """Return line `number` (from 1) of a file. Raises BadInput with the line, the field and the reason."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        location = ".".join(str(part) for part in detail["loc"])
        message = f"the recorded run is invalid at line {number}{f', {location}' if location else ''}"
        raise BadInput(f"{message}: {detail['msg']}. Fix this line, or export the run again.") from error
