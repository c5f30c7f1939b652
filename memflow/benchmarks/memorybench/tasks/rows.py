"""LexEval, JuDGE, NF-CATS, SciTechNews and WritingPrompts: data sets of which each row is a case (A.1.1).

JuDGE's training and test files form one pool. SciTechNews is called JRE-L in MemoryBench's code; its articles are not
read. NF-CATS publishes no answers.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, Text, answered_case, cases_of
from memflow.benchmarks.published_file import File, Said
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records, validated
from memflow.records import Record

WORDS = 1024
"""Maximum words of a paper's abstract in SciTechNews, split at single spaces."""
MAX_ROWS = 2000
"""The number of rows of WritingPrompts' test split that are read, from the first."""


class LexEvalRow(BaseModel):
    """A question: instruction, input and the answer of an expert."""

    instruction: Said
    input: Said
    answer: Said


def _lexeval_case(place: int, record: Record, row: LexEvalRow) -> Case:
    # Instruction and input are joined without a separator, as published.
    return answered_case(record.record_id, row.instruction + row.input, row.answer, language="zh")


class JudgmentRow(BaseModel):
    """The facts of a case and the court's document."""

    text_id: Said
    text: Said
    fd: Said


def _judge_cases(records: Sequence[Record]) -> list[Case]:
    """Return all cases, those of the training file first."""
    ordered = sorted(records, key=lambda record: (not record.source.endswith("train.json"), record.position))
    return cases_of(
        JudgmentRow, ordered, lambda place, _, row: answered_case(str(place), row.text, row.fd, language="zh")
    )


class NfCatsRow(BaseModel):
    """A question and its category."""

    category: Annotated[str, StringConstraints(min_length=1)]
    question: Text


def nfcats_case(case_id: str, question: str, category: str | None) -> Case:
    """Convert a question to a case without gold."""
    return Case(case_id=case_id, question=question, gold="{}", revealed="", category=category)


class SciTechNewsRow(BaseModel):
    """A paper and its press release. All fields are required but may be empty."""

    model_config = ConfigDict(populate_by_name=True)

    title: str = Field(alias="sc-title")
    abstract: str = Field(alias="sc-abstract")
    pr_title: str = Field(alias="pr-title")
    pr_summary: str = Field(alias="pr-summary")


def _read_scitechnews(file: File) -> Iterator[RawRecord]:
    def parse(content: Any) -> tuple[str, Any]:
        return "", SciTechNewsRow.model_validate(content).model_dump(by_alias=True)

    return parse_records(file.lines(numbered=True), parse)


def scitechnews_case(case_id: str, row: SciTechNewsRow) -> Case:
    """Convert a paper to a case. If a text is missing, the case is quarantined."""
    lacking = [name for name, text in row.model_dump(by_alias=True).items() if not text.strip()]
    shown = " ".join(row.abstract.split(" ")[:WORDS])
    return Case(
        case_id=case_id,
        question=f"{row.title}\n\n{shown}".strip(),
        gold=json.dumps(row.model_dump(), ensure_ascii=False),
        revealed=f"{row.pr_title}\n{row.pr_summary}".strip(),
        reason=f"the paper has no {', '.join(lacking)} in the published file" if lacking else None,
    )


class WritingPromptsRow(BaseModel):
    """A premise by Reddit users, preceded by a tag such as `[WP]`, and a human story."""

    prompt: Text
    story: Text

    @property
    def premise(self) -> str:
        """The prompt without a tag such as `[WP]`."""
        return self.prompt.split("]", 1)[-1].strip()


def _read_writingprompts(file: File) -> Iterator[RawRecord]:
    rows = file.parquet_rows(lambda names: ("prompt", "story"), start=1, numbered=True)
    return parse_records(islice(rows, MAX_ROWS), _parse_premise)


def _parse_premise(content: Any) -> tuple[str, Any]:
    if not WritingPromptsRow.model_validate(content).premise:
        raise RecordFault("`prompt` has no text after its tag, such as [WP]. Write one, or remove the row.")
    return "", content


LEXEVAL = TaskReader(
    lambda file: parse_records(file.lines(numbered=True), validated(LexEvalRow)),
    lambda records: cases_of(LexEvalRow, records, _lexeval_case),
    rows="questions",
)
JUDGE = TaskReader(
    lambda file: parse_records(file.lines(), validated(JudgmentRow, "text_id")), _judge_cases, rows="cases"
)
NFCATS = TaskReader(
    lambda file: parse_records(file.csv_rows("category", "question", numbered=True), validated(NfCatsRow)),
    lambda records: cases_of(
        NfCatsRow, records, lambda _, record, row: nfcats_case(record.record_id, row.question, row.category)
    ),
    rows="questions",
)
SCITECHNEWS = TaskReader(
    _read_scitechnews,
    lambda records: cases_of(
        SciTechNewsRow, records, lambda _, record, row: scitechnews_case(record.record_id, row)
    ),
    rows="papers",
)
WRITINGPROMPTS = TaskReader(
    _read_writingprompts,
    lambda records: cases_of(
        WritingPromptsRow,
        records,
        lambda _, record, row: answered_case(record.record_id, row.premise, row.story),
    ),
    rows="rows",
)
