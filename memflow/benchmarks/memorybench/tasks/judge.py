"""JuDGE: Chinese judgments written from the facts of a case (A.1.1). Training and test set are one pool."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks import catalog
from memflow.benchmarks.memorybench.tasks.task import Case, Pool
from memflow.benchmarks.published_file import File, Said
from memflow.records import Record


class JudgmentRow(BaseModel):
    """The facts of a case and the court's document."""

    text_id: Said
    text: Said
    fd: Said


def read(file: File) -> list[tuple[str, dict[str, Any]]]:
    """Return a record per line. Raises BadInput."""
    found = [(line.text_id, raw) for raw, line in file.lines(JudgmentRow)]
    if not found:
        raise file.bad("it has no cases")
    return found


def pools(dataset: str, records: Sequence[Record]) -> list[Pool]:
    """Return one pool of all cases, training file first."""
    ordered = sorted(records, key=lambda record: (not record.source.endswith("train.json"), record.position))
    lines = [JudgmentRow.model_validate(json.loads(record.content)) for record in ordered]
    cases = [case(str(place), line.text, line.fd) for place, line in enumerate(lines)]
    return [Pool(dataset, catalog.task(dataset), cases)]


def case(case_id: str, facts: str, document: str) -> Case:
    """Return the case of facts with the court's document."""
    return Case(case_id=case_id, question=facts.strip(), gold=document, revealed=document, language="zh")
