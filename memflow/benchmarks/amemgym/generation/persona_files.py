"""Readers of persona files.

A persona file is JSON Lines or Parquet, in memflow's schema or the schema of Nemotron-Personas. personas.py selects the
personas of a domain; memflow/benchmarks/amemgym/load.py reads published users.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from memflow.benchmarks.amemgym.generation.personas import parse_persona
from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.fingerprint import digest

ENDINGS = (".jsonl", ".parquet")
"""File name endings of persona files."""


def read_personas(file: File) -> Iterator[RawRecord]:
    """Return every persona in the file. Raises BadInput.

    The id is the field `id` or `uuid` of the persona, or a digest of its content.
    """
    rows = _parquet_rows(file) if file.source.endswith(".parquet") else file.lines()
    return file.some(parse_records(rows, _parse), "personas")


def _parse(content: Any) -> tuple[str, Any]:
    """Return the id and the content of a persona. Raises RecordFault."""
    if not isinstance(content, dict):
        raise RecordFault("the persona is not a JSON object")
    given_id = content.get("id") or content.get("uuid")
    record_id = digest(content)[:16] if given_id in (None, "") else str(given_id)
    persona = parse_persona(record_id, content)
    if not (persona.name or persona.prose()):
        raise RecordFault(
            "the record is not a persona: it has neither the fields name and about nor the columns of "
            "Nemotron-Personas"
        )
    return record_id, content


def _parquet_rows(file: File) -> Iterator[RawRecord]:
    for row in file.parquet_rows(lambda names: names, batch=4096, start=1):
        # Types that JSON lacks (dates, decimals) become text.
        yield replace(row, content=json.loads(json.dumps(row.content, default=str)))
