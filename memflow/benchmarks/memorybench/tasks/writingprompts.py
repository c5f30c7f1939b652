"""WritingPrompts: premises by Reddit users, each with a human story (A.1.1)."""

import io
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, StringConstraints

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, cases_of
from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.records import Record

MAX_ROWS = 2000
"""The number of rows of the test split that are read, from the first."""

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class WritingPromptsRow(BaseModel):
    """A premise, preceded by a tag such as `[WP]`, and a story."""

    prompt: Text
    story: Text

    @property
    def premise(self) -> str:
        """The prompt without a tag such as `[WP]`."""
        return self.prompt.split("]", 1)[-1].strip()


def read(file: File) -> Iterator[RawRecord]:
    """Yield a record for each of the first MAX_ROWS rows. Raises BadInput for invalid Parquet or a missing column."""
    import pyarrow  # noqa: PLC0415  (a moment of imports, for those who have this data set)
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415

    try:
        table = ParquetFile(io.BytesIO(file.content))
        if lacking := {"prompt", "story"} - set(table.schema_arrow.names):
            raise file.bad(f"the file lacks the columns {' and '.join(sorted(lacking))}")
        batches = table.iter_batches(batch_size=MAX_ROWS, columns=["prompt", "story"])
        rows = [row for batch in batches for row in batch.to_pylist()][:MAX_ROWS]
    except (pyarrow.ArrowException, OSError) as error:
        raise file.bad(f"the file is truncated or invalid Parquet ({error})") from error
    yield from parse_records(
        (RawRecord(f"row {number + 1}", row, str(number)) for number, row in enumerate(rows)), _parse
    )


def _parse(content: Any) -> tuple[str, Any]:
    if not WritingPromptsRow.model_validate(content).premise:
        raise RecordFault("the prompt has no text after its tag")
    return "", content


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all premises as cases."""
    return cases_of(
        WritingPromptsRow, records, lambda _, record, row: case(record.record_id, row.premise, row.story)
    )


def case(case_id: str, premise: str, story: str) -> Case:
    """Convert a premise with its story to a case."""
    return Case(case_id=case_id, question=premise, gold=story, revealed=story)


READER = TaskReader(read, cases, rows="rows")
