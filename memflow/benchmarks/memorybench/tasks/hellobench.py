"""HelloBench: long texts that a judge scores by a checklist (A.1.1). Three tasks cover categories of its five files."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, Field, Json

from memflow.benchmarks.memorybench.tasks import catalog
from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, Text, quarantined_case
from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord, parse_records
from memflow.records import Record

ORDER = ("open_ended_qa", "summarization", "chat", "heuristic_text_generation", "text_completion")
"""The files in the order of the published code."""


class ChecklistItem(BaseModel):
    """A yes-or-no question about the text."""

    checklist_content: Text


class HelloBenchRow(BaseModel):
    """An instruction with its category and checklist."""

    id: Text
    category: Text
    instruction: Text
    formatted_checklists: Json[Annotated[list[ChecklistItem], Field(min_length=1)]]

    @property
    def checklist(self) -> list[str]:
        return [item.checklist_content for item in self.formatted_checklists]


def read(file: File) -> Iterator[RawRecord]:
    """Yield one record per line of a selected category. Raises BadInput."""
    wanted = catalog.task(file.dataset.name).selection.get(_stem(file.source), ())
    lines = list(file.lines())
    if not lines:
        raise file.bad("the file contains no instructions")

    def parse(content: Any) -> tuple[str, Any] | None:
        category = content.get("category") if isinstance(content, dict) else None
        if wanted and isinstance(category, str) and category.strip() not in wanted:
            return None
        return HelloBenchRow.model_validate(content).id, content

    yield from parse_records(lines, parse)


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all cases in file order. The file is the stratum of a case (the group for stratified splits)."""
    ordered = sorted(records, key=lambda record: ORDER.index(_stem(record.source)))
    return [_case(record) for record in ordered]


def _case(record: Record) -> Case:
    stratum = _stem(record.source)
    if record.reason is not None:
        return replace(quarantined_case(record), stratum=stratum)
    row = HelloBenchRow.model_validate_json(record.content)
    return case(row.id, row.instruction, row.checklist, row.category, stratum)


def case(
    case_id: str, instruction: str, checklist: Sequence[str], category: str | None, stratum: str | None
) -> Case:
    """Convert an instruction with its checklist to a case."""
    return Case(
        case_id=case_id,
        question=instruction,
        gold=json.dumps({"checklist": checklist}, ensure_ascii=False),
        revealed="\n".join(f"- {item}" for item in checklist),
        category=category,
        stratum=stratum,
    )


def _stem(source: str) -> str:
    return PurePosixPath(source).stem


READER = TaskReader(read, cases)
