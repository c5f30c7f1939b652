"""NF-CATS: non-factoid questions without published answers (A.1.1)."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, StringConstraints

from memflow.benchmarks.memorybench.tasks import catalog
from memflow.benchmarks.memorybench.tasks.task import Case, Pool
from memflow.benchmarks.published_file import File
from memflow.records import Record


class NfCatsRow(BaseModel):
    """A question and its category."""

    category: Annotated[str, StringConstraints(min_length=1)]
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def read(file: File) -> list[tuple[str, dict[str, Any]]]:
    """Return a record per row, by its number. Raises BadInput."""
    rows = csv.DictReader(io.StringIO(file.text(), newline=""))
    if not {"category", "question"} <= set(rows.fieldnames or ()):
        raise file.bad("the header lacks the columns category and question")
    found = []
    for number, row in enumerate(rows):
        file.shaped(NfCatsRow, row, f"row {number + 1}")
        found.append((str(number), row))
    if not found:
        raise file.bad("it has no questions")
    return found


def pools(dataset: str, records: Sequence[Record]) -> list[Pool]:
    """Return one pool of all questions."""
    lines = [NfCatsRow.model_validate(json.loads(record.content)) for record in records]
    cases = [
        case(record.record_id, line.question, line.category)
        for record, line in zip(records, lines, strict=True)
    ]
    return [Pool(dataset, catalog.task(dataset), cases)]


def case(case_id: str, question: str, category: str | None) -> Case:
    """Return the case of a question without gold."""
    return Case(case_id=case_id, question=question, gold="{}", revealed="", category=category)
