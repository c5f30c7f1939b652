"""Files to raw records: the published AMemGym users, personas for the domains that memflow generates
(persona_files.py), and recorded runs (recorded.py).

A file that cannot be read whole is refused whole, with the place and what to do; nothing is mended here.
What the records mean is states.py, utterances.py and probes.py.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memflow.benchmarks.amemgym.generation.persona_files import ENDINGS, bad, read_personas, text_of
from memflow.benchmarks.amemgym.off_policy import dialogues, is_recorded, may_be_recorded
from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.datasets import Dataset
from memflow.errors import BadInput, MissingData
from memflow.records import Record


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """One record per user of the published file (.json), per persona of a file of these, or per period of
    a recorded run.

    Raises MissingData for a file that is not there, and BadInput naming file, record and fault.
    """
    found: list[Record] = []
    for source in dataset.files:
        if source not in files or not files[source].is_file():
            raise MissingData(f"{dataset.name}: {source} is not there. {dataset.how}")
        raw = files[source].read_bytes()
        sha256 = hashlib.sha256(raw).hexdigest()
        for record_id, content in _of(dataset, source, raw):
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
            raise bad(dataset, record.source, f"the id {record.record_id!r} stands there twice")
        seen.add(record.record_id)
    return found


def _of(dataset: Dataset, source: str, raw: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Id and content of every record of a file, whatever it holds."""
    if may_be_recorded(source) and is_recorded(source, text := text_of(dataset, source, raw)):
        try:
            yield from dialogues(source, text)
        except BadInput as wrong:
            raise bad(dataset, source, str(wrong)) from wrong
    else:
        yield from (read_personas if source.endswith(ENDINGS) else read_users)(dataset, source, raw)


def read_users(dataset: Dataset, source: str, raw: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Id and content of every user of a published file. Raises BadInput naming file, record and fault."""
    for number, content in enumerate(_values(dataset, source, text_of(dataset, source, raw))):
        place = f"record {number}"
        if isinstance(content, dict) and isinstance(content.get("id"), str):
            place += f" (id {content['id']})"
        try:
            user = PublishedUser.model_validate(content)
        except ValidationError as wrong:
            first = wrong.errors(include_url=False, include_input=False)[0]
            path = ".".join(str(part) for part in first["loc"]) or "the whole"
            raise bad(dataset, source, f"{place}, {path}: {first['msg']}") from wrong
        if faults := user.faults():
            raise bad(dataset, source, f"{place}, {faults[0]} ({len(faults)} such faults in it)")
        yield user.id, content


def _values(dataset: Dataset, source: str, text: str) -> list[Any]:
    """The items of the file's list."""
    try:
        values = json.loads(text)
    except json.JSONDecodeError as wrong:
        at = f"{wrong.msg} at character {wrong.pos} of {len(text)}"
        raise bad(dataset, source, f"it is not whole JSON ({at}); it may be cut off") from wrong
    if not isinstance(values, list) or not values:
        raise bad(dataset, source, "it does not hold a list of users")
    return values
