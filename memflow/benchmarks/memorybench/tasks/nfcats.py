"""NF-CATS: non-factoid questions without published answers (A.1.1)."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, StringConstraints

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, parse_rows
from memflow.benchmarks.published_file import File
from memflow.records import Record


class NfCatsRow(BaseModel):
    """A question and its category."""

    category: Annotated[str, StringConstraints(min_length=1)]
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def read(file: File) -> Iterator[tuple[str, Any]]:
    """Yield one record per row, identified by the row number. Raises BadInput."""
    rows = csv.DictReader(io.StringIO(file.text(), newline=""))
    if not {"category", "question"} <= set(rows.fieldnames or ()):
        raise file.bad("the header lacks the columns category and question")
    for number, row in enumerate(rows):
        file.shaped(NfCatsRow, row, f"row {number + 1}")
        yield str(number), row


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all questions as cases."""
    rows = zip(records, parse_rows(NfCatsRow, records), strict=True)
    return [case(record.record_id, row.question, row.category) for record, row in rows]


def case(case_id: str, question: str, category: str | None) -> Case:
    """Convert a question to a case without gold."""
    return Case(case_id=case_id, question=question, gold="{}", revealed="", category=category)


READER = TaskReader(read, cases, rows="questions")
