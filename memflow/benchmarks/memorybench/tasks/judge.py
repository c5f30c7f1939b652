"""JuDGE: Chinese judgments from the facts of a case (A.1.1). Training and test files form one pool."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, parse_rows
from memflow.benchmarks.published_file import File, Said
from memflow.records import Record


class JudgmentRow(BaseModel):
    """The facts of a case and the court's document."""

    text_id: Said
    text: Said
    fd: Said


def read(file: File) -> Iterable[tuple[str, Any]]:
    """Return one record per line. Raises BadInput."""
    return ((line.text_id, raw) for raw, line in file.lines(JudgmentRow))


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all cases, those of the training file first."""
    ordered = sorted(records, key=lambda record: (not record.source.endswith("train.json"), record.position))
    rows = parse_rows(JudgmentRow, ordered)
    return [case(str(place), row.text, row.fd) for place, row in enumerate(rows)]


def case(case_id: str, facts: str, document: str) -> Case:
    """Convert facts and the court's document to a case."""
    return Case(case_id=case_id, question=facts.strip(), gold=document, revealed=document, language="zh")


READER = TaskReader(read, cases, rows="cases")
