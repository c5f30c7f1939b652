"""LexEval 5-1, 5-2 and 5-4: Chinese legal summaries, judicial analyses and open questions (A.1.1)."""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, cases_of
from memflow.benchmarks.published_file import File, Said
from memflow.benchmarks.raw_records import RawRecord, parse_records, validated
from memflow.records import Record


class LexEvalRow(BaseModel):
    """A question: instruction, input and the answer of an expert."""

    instruction: Said
    input: Said
    answer: Said


def read(file: File) -> Iterator[RawRecord]:
    """Yield one record per line, identified by the line number. Raises BadInput."""
    return parse_records(file.lines(numbered=True), validated(LexEvalRow))


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all questions as cases."""
    return cases_of(
        LexEvalRow,
        records,
        lambda _, record, row: case(record.record_id, row.instruction + row.input, row.answer),
    )


def case(case_id: str, question: str, answer: str) -> Case:
    """Convert a question to a case. Instruction and input are joined without a separator, as published."""
    return Case(case_id=case_id, question=question.strip(), gold=answer, revealed=answer, language="zh")


READER = TaskReader(read, cases, rows="questions")
