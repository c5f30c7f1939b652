"""JuDGE: Chinese judgments from the facts of a case (A.1.1). Training and test files form one pool."""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, cases_of
from memflow.benchmarks.published_file import File, Said
from memflow.benchmarks.raw_records import RawRecord, parse_records, validated
from memflow.records import Record


class JudgmentRow(BaseModel):
    """The facts of a case and the court's document."""

    text_id: Said
    text: Said
    fd: Said


def read(file: File) -> Iterator[RawRecord]:
    """Yield one record per line. Raises BadInput."""
    return parse_records(file.lines(), validated(JudgmentRow, "text_id"))


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all cases, those of the training file first."""
    ordered = sorted(records, key=lambda record: (not record.source.endswith("train.json"), record.position))
    return cases_of(JudgmentRow, ordered, lambda place, _, row: case(str(place), row.text, row.fd))


def case(case_id: str, facts: str, document: str) -> Case:
    """Convert facts and the court's document to a case."""
    return Case(case_id=case_id, question=facts.strip(), gold=document, revealed=document, language="zh")


READER = TaskReader(read, cases, rows="cases")
