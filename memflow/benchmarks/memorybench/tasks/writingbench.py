"""WritingBench: English and Chinese texts, each judged by criteria of its own question (A.1.1).

There are three tasks from its domains, without finance and business. As in the published code, the stratum is the
domain. A missing language is detected from the script of the text.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from memflow.benchmarks.memorybench.tasks import catalog
from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, Text, cases_of
from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord, parse_records
from memflow.records import Record
from memflow.words import HAN

CHINESE = 0.2
"""Minimum share of Chinese characters of a Chinese query. Published shares are below 0.04 or above 0.8."""
_HAN = re.compile(f"[{HAN}]")
_LETTER = re.compile(r"[^\W\d_]")


class Criterion(BaseModel):
    """A criterion with descriptions of its score ranges."""

    name: Text
    criteria_description: Text
    one: Annotated[Text, Field(alias="1-2")]
    three: Annotated[Text, Field(alias="3-4")]
    five: Annotated[Text, Field(alias="5-6")]
    seven: Annotated[Text, Field(alias="7-8")]
    nine: Annotated[Text, Field(alias="9-10")]

    def gold(self) -> dict[str, Any]:
        """Return `name`, `description` and `levels` (the text for grades such as `1-2`) for the judge's prompt."""
        levels = self.model_dump(by_alias=True)
        return {
            "name": levels.pop("name"),
            "description": levels.pop("criteria_description"),
            "levels": levels,
        }


class WritingBenchRow(BaseModel):
    """A query with its domains and criteria."""

    index: int
    domain1: Text
    domain2: Text
    query: Text
    checklist: Annotated[list[Criterion], Field(min_length=1)]
    lang: Literal["en", "zh"] | None = None

    @property
    def language(self) -> Literal["en", "zh"]:
        """The language of the query."""
        if self.lang is not None:
            return self.lang
        letters = len(_LETTER.findall(self.query))
        return "zh" if len(_HAN.findall(self.query)) > CHINESE * letters else "en"


def read(file: File) -> list[RawRecord]:
    """Return one record per query in the data set's domains. Raises BadInput."""
    wanted = catalog.task(file.dataset.name).selection["domains"]

    def parse(content: Any) -> tuple[str, Any] | None:
        domain = content.get("domain1") if isinstance(content, dict) else None
        if isinstance(domain, str) and domain.strip() not in wanted:
            return None
        return str(WritingBenchRow.model_validate(content).index), content

    found = list(parse_records(file.lines(), parse))
    if not found:
        raise file.bad(f"the file has no query of the domain {' or '.join(wanted)}")
    return found


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all queries as cases."""
    return cases_of(
        WritingBenchRow,
        records,
        lambda _, record, row: replace(
            case(str(row.index), row.query, row.checklist, row.domain1),
            language=row.language,
            category=row.domain2,
        ),
    )


def case(case_id: str, query: str, criteria: Sequence[Criterion], stratum: str | None) -> Case:
    """Convert a query with its criteria to a case."""
    return Case(
        case_id=case_id,
        question=query,
        gold=json.dumps({"criteria": [each.gold() for each in criteria]}, ensure_ascii=False),
        revealed="\n".join(f"- {each.name}: {each.criteria_description}" for each in criteria),
        stratum=stratum,
    )


READER = TaskReader(read, cases, rows="queries")
