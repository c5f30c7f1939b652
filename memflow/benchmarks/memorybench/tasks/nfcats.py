"""NF-CATS: non-factoid questions without published answers (A.1.1)."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, cases_of
from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord, parse_records, validated
from memflow.records import Record


class NfCatsRow(BaseModel):
    """A question and its category."""

    category: Annotated[str, StringConstraints(min_length=1)]
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def read(file: File) -> Iterator[RawRecord]:
    """Yield one record per row, identified by the row number. Raises BadInput."""
    return parse_records(file.csv_rows("category", "question", numbered=True), validated(NfCatsRow))


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all questions as cases."""
    return cases_of(
        NfCatsRow, records, lambda _, record, row: case(record.record_id, row.question, row.category)
    )


def case(case_id: str, question: str, category: str | None) -> Case:
    """Convert a question to a case without gold."""
    return Case(case_id=case_id, question=question, gold="{}", revealed="", category=category)


READER = TaskReader(read, cases, rows="questions")
