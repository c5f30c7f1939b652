"""Files of personas to records: JSON lines or Parquet, of our shape or Nemotron-Personas'; and lists of traits.

A file that cannot be read whole is refused whole, with the place and what to do. Which personas a domain takes,
and what their fields mean, is personas.py; published users are records.py.
"""

import io
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from pydantic import ValidationError

from memflow.benchmarks.amemgym.generation.personas import TRAITS, persona_of
from memflow.benchmarks.amemgym.generation.trait_lists import Traits
from memflow.benchmarks.datasets import Dataset
from memflow.errors import BadInput
from memflow.fingerprint import digest

ENDINGS = (".jsonl", ".parquet", TRAITS)
"""Endings of the files that are read here."""


def read_personas(dataset: Dataset, source: str, raw: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Id and content of every persona in the file. Raises BadInput naming file, record and fault.

    The id is the persona's `id` or `uuid`; a persona without either is known by a digest of what it says.
    """
    if source.endswith(TRAITS):
        yield source, _traits(dataset, source, raw)
        return
    rows = _parquet(dataset, source, raw) if source.endswith(".parquet") else _lines(dataset, source, raw)
    for number, content in rows:
        if not isinstance(content, dict):
            raise bad(dataset, source, f"record {number} is no object with fields")
        given = content.get("id") or content.get("uuid")
        record_id = digest(content)[:16] if given in (None, "") else str(given)
        try:
            persona = persona_of(record_id, content)
        except ValidationError as wrong:
            raise bad(dataset, source, f"record {number} (id {record_id}), {_first(wrong)}") from wrong
        if not (persona.name or persona.told()):
            wanted = "neither name nor about, nor the columns of Nemotron-Personas"
            raise bad(dataset, source, f"record {number} (id {record_id}) is no persona: it has {wanted}")
        yield record_id, content


def _traits(dataset: Dataset, source: str, raw: bytes) -> dict[str, Any]:
    try:
        return Traits.model_validate(yaml.safe_load(text_of(dataset, source, raw))).model_dump()
    except yaml.YAMLError as wrong:
        raise bad(dataset, source, f"it is not YAML ({' '.join(str(wrong).split())})") from wrong
    except ValidationError as wrong:
        raise bad(dataset, source, _first(wrong)) from wrong


def _lines(dataset: Dataset, source: str, raw: bytes) -> Iterator[tuple[int, Any]]:
    """The values of the lines that are not empty, numbered from 0."""
    found = 0
    for number, line in enumerate(text_of(dataset, source, raw).split("\n"), 1):
        if line.strip():
            try:
                yield found, json.loads(line)
            except json.JSONDecodeError as wrong:
                raise bad(dataset, source, f"line {number} is not JSON ({wrong.msg})") from wrong
            found += 1
    if not found:
        raise bad(dataset, source, "it does not hold a list of users")


def _parquet(dataset: Dataset, source: str, raw: bytes) -> Iterator[tuple[int, Any]]:
    found = 0
    try:
        for batch in pq.ParquetFile(io.BytesIO(raw)).iter_batches(4096):
            for row in batch.to_pylist():
                # What JSON cannot hold (dates, decimals) stands there in words.
                yield found, json.loads(json.dumps(row, default=str))
                found += 1
    except (pa.ArrowException, OSError) as wrong:
        raise bad(dataset, source, f"it is no whole Parquet file ({wrong})") from wrong
    if not found:
        raise bad(dataset, source, "it does not hold a list of users")


def text_of(dataset: Dataset, source: str, raw: bytes) -> str:
    """The file's text. Raises BadInput where it is not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise bad(dataset, source, f"it is not UTF-8 (byte {wrong.start})") from wrong


def bad(dataset: Dataset, source: str, wrong: str) -> BadInput:
    """The error for a file that cannot be read."""
    return BadInput(f"{dataset.name}: {source}: {wrong}. Get the file again: {dataset.how}")


def _first(wrong: ValidationError) -> str:
    first = wrong.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in first['loc']) or 'the whole'}: {first['msg']}"
