"""Published files to raw records: the AMemGym user file, personas for the domains that memflow generates, and
recorded runs (recorded.py).

A file that cannot be read whole is refused whole, with the place and what to do; nothing is mended here.
What the records mean is states.py, utterances.py and probes.py.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.amemgym.recorded import dialogues, is_recorded
from memflow.datasets import Dataset
from memflow.errors import BadInput, MissingData
from memflow.records import Record


class Persona(BaseModel):
    """A person to generate a user from. Other keys are traits, shown to the simulator line by line."""

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    about: str = Field(min_length=1)

    def profile(self) -> str:
        """The traits in words, one a line."""
        traits = self.model_dump(exclude={"id"})
        return "\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in traits.items())


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """One record per user of the published file (.json), per persona (.jsonl), or per period of a recorded run.

    Raises MissingData for a file that is not there, and BadInput naming file, record and fault.
    """
    found: list[Record] = []
    for source in dataset.files:
        if source not in files or not files[source].is_file():
            raise MissingData(f"{dataset.name}: {source} is not there. {dataset.how}")
        raw = files[source].read_bytes()
        sha256 = hashlib.sha256(raw).hexdigest()
        for record_id, content in _contents(dataset, source, raw):
            found.append(
                Record(
                    dataset=dataset.name,
                    record_id=record_id,
                    position=len(found),
                    source=source,
                    sha256=sha256,
                    licence=dataset.licence,
                    origin=dataset.origin,
                    content=json.dumps(content, ensure_ascii=False),
                )
            )
    seen: set[str] = set()
    for record in found:
        if record.record_id in seen:
            raise _bad(dataset, record.source, f"the id {record.record_id!r} stands there twice")
        seen.add(record.record_id)
    return found


def _contents(dataset: Dataset, source: str, raw: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise _bad(dataset, source, f"it is not UTF-8 (byte {wrong.start})") from wrong
    if is_recorded(source, text):
        try:
            yield from dialogues(source, text)
        except BadInput as wrong:
            raise _bad(dataset, source, str(wrong)) from wrong
        return
    shape = Persona if source.endswith(".jsonl") else PublishedUser
    for number, content in enumerate(_values(dataset, source, text)):
        place = f"record {number}"
        if isinstance(content, dict) and isinstance(content.get("id"), str):
            place += f" (id {content['id']})"
        try:
            item = shape.model_validate(content)
        except ValidationError as wrong:
            first = wrong.errors(include_url=False, include_input=False)[0]
            path = ".".join(str(part) for part in first["loc"]) or "the whole"
            raise _bad(dataset, source, f"{place}, {path}: {first['msg']}") from wrong
        if isinstance(item, PublishedUser) and (faults := item.faults()):
            raise _bad(dataset, source, f"{place}, {faults[0]} ({len(faults)} such faults in it)")
        yield item.id, content


def _values(dataset: Dataset, source: str, text: str) -> list[Any]:
    """The file's JSON values: the items of its list, or one a line."""
    try:
        if source.endswith(".jsonl"):
            lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
            values = []
            for number, line in lines:
                try:
                    values.append(json.loads(line))
                except json.JSONDecodeError as wrong:
                    raise _bad(dataset, source, f"line {number} is not JSON ({wrong.msg})") from wrong
        else:
            values = json.loads(text)
    except json.JSONDecodeError as wrong:
        at = f"{wrong.msg} at character {wrong.pos} of {len(text)}"
        raise _bad(dataset, source, f"it is not whole JSON ({at}); it may be cut off") from wrong
    if not isinstance(values, list) or not values:
        raise _bad(dataset, source, "it does not hold a list of users")
    return values


def _bad(dataset: Dataset, source: str, wrong: str) -> BadInput:
    return BadInput(f"{dataset.name}: {source}: {wrong}. Get the file again: {dataset.how}")
