"""Readers of persona files.

A persona file is JSON Lines or Parquet, in memflow's schema or the schema of Nemotron-Personas. personas.py selects the
personas of a domain; load.py reads published users.
"""

import io
import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from memflow.benchmarks.amemgym.generation.personas import parse_persona
from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.fingerprint import digest

ENDINGS = (".jsonl", ".parquet")
"""File name endings of persona files."""


def read_personas(file: File) -> Iterator[RawRecord]:
    """Yield every persona in the file. Raises BadInput.

    The id is the field `id` or `uuid` of the persona, or a digest of its content.
    """
    is_empty = True
    rows = _parquet_rows(file) if file.source.endswith(".parquet") else file.lines()
    for raw in parse_records(rows, _parse):
        is_empty = False
        yield raw
    if is_empty:
        raise file.bad("the persona file contains no personas")


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
    """Yield the rows of a Parquet file as JSON values, numbered from 1. Raises BadInput for a damaged file."""
    import pyarrow as pa  # noqa: PLC0415  (other files need no Arrow)
    import pyarrow.parquet as pq  # noqa: PLC0415

    numbers = count(1)
    try:
        for batch in pq.ParquetFile(io.BytesIO(file.content)).iter_batches(4096):
            for row in batch.to_pylist():
                # Types that JSON lacks (dates, decimals) become text.
                yield RawRecord(f"row {next(numbers)}", json.loads(json.dumps(row, default=str)))
    except (pa.ArrowException, OSError) as error:
        raise file.bad(f"the file is truncated or not a Parquet file ({error})") from error
