"""SciTechNews, called JRE-L in MemoryBench's code: papers to rewrite as news (A.1.1). Articles are not read."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, cases_of
from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord, parse_records
from memflow.records import Record

WORDS = 1024
"""Maximum words of an abstract, split at single spaces."""


class SciTechNewsRow(BaseModel):
    """A paper and its press release. All fields are required but may be empty."""

    model_config = ConfigDict(populate_by_name=True)

    title: str = Field(alias="sc-title")
    abstract: str = Field(alias="sc-abstract")
    pr_title: str = Field(alias="pr-title")
    pr_summary: str = Field(alias="pr-summary")


def read(file: File) -> Iterator[RawRecord]:
    """Yield one record per line, identified by the line number. Raises BadInput."""

    def parse(content: Any) -> tuple[str, Any]:
        return "", SciTechNewsRow.model_validate(content).model_dump(by_alias=True)

    return parse_records(file.lines(numbered=True), parse)


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all papers as cases."""
    return cases_of(SciTechNewsRow, records, lambda _, record, row: case(record.record_id, row))


def case(case_id: str, line: SciTechNewsRow) -> Case:
    """Convert a paper to a case. If a text is missing, the case is quarantined."""
    lacking = [name for name, text in line.model_dump(by_alias=True).items() if not text.strip()]
    shown = " ".join(line.abstract.split(" ")[:WORDS])
    return Case(
        case_id=case_id,
        question=f"{line.title}\n\n{shown}".strip(),
        gold=json.dumps(line.model_dump(), ensure_ascii=False),
        revealed=f"{line.pr_title}\n{line.pr_summary}".strip(),
        reason=f"the paper has no {', '.join(lacking)} in the published file" if lacking else None,
    )


READER = TaskReader(read, cases, rows="papers")
