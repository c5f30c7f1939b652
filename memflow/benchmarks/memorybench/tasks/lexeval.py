"""LexEval 5-1, 5-2 and 5-4: Chinese legal summaries, judicial analyses and open questions (A.1.1)."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks import catalog
from memflow.benchmarks.memorybench.tasks.task import Case, Pool
from memflow.benchmarks.published_file import File, Said
from memflow.records import Record


class LexEvalRow(BaseModel):
    """A question: instruction, input and an expert's answer."""

    instruction: Said
    input: Said
    answer: Said


def read(file: File) -> list[tuple[str, dict[str, Any]]]:
    """Return a record per line, by its number. Raises BadInput."""
    found = [(str(number), raw) for number, (raw, _) in enumerate(file.lines(LexEvalRow))]
    if not found:
        raise file.bad("it has no questions")
    return found


def pools(dataset: str, records: Sequence[Record]) -> list[Pool]:
    """Return one pool of all questions."""
    lines = [LexEvalRow.model_validate(json.loads(record.content)) for record in records]
    cases = [
        case(record.record_id, line.instruction + line.input, line.answer)
        for record, line in zip(records, lines, strict=True)
    ]
    return [Pool(dataset, catalog.task(dataset), cases)]


def case(case_id: str, question: str, answer: str) -> Case:
    """Return the case of a question. Instruction and input are joined without a separator, as published."""
    return Case(case_id=case_id, question=question.strip(), gold=answer, revealed=answer, language="zh")
