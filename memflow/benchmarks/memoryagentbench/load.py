"""Reading of MemoryAgentBench's rows from a published Parquet file, or from JSON files of one row or a list of rows."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, Field, model_validator

from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memoryagentbench.answers import title_of
from memflow.benchmarks.memoryagentbench.config import parse_config
from memflow.benchmarks.memoryagentbench.sources import family
from memflow.benchmarks.partial import InvalidPart
from memflow.benchmarks.published_file import File, Said, records_of, valid_records
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.records import Record

_ROW = "row"
FIELDS = ("context", "questions", "answers", "metadata")
TITLES = "entity2id.json"
"""The file with the ids of titles, which the recommendation's answers name. Its record has this id."""


class RowMetadata(BaseModel):
    """What the benchmark says of a row. Other fields, such as the sessions of LongMemEval, repeat its text."""

    source: Said
    qa_pair_ids: list[str] | None = None
    question_ids: list[str] | None = None
    """LongMemEval's own ids, with the mark of questions without an answer."""
    question_types: list[str] | None = None
    keypoints: list[str] | None = None
    """Of the expert's summary of a novel."""


class Pair(NamedTuple):
    """A question by its id, with its accepted answers, or its fault. `type` is that of LongMemEval."""

    name: str
    content: tuple[str, tuple[str, ...]] | InvalidPart
    type: str = ""


_PER_QUESTION = ("qa_pair_ids", "question_ids", "question_types")


class PublishedRow(BaseModel):
    """A row: one long text, its questions, and for each question the accepted answers.

    `name` is its source, with a number from the second text of a source on.
    """

    name: str = ""
    context: Said
    questions: list[Any] = Field(min_length=1)
    answers: list[Any]
    metadata: RowMetadata

    @model_validator(mode="after")
    def _one_answer_list_each(self) -> "PublishedRow":
        of = {"answers": self.answers, **{name: getattr(self.metadata, name) for name in _PER_QUESTION}}
        for name, count in ((name, len(values)) for name, values in of.items() if values):
            if count != len(self.questions):
                raise ValueError(
                    f"the row has {len(self.questions)} questions, but {count} {name}; the lists must be equally long"
                )
        return self

    def pairs(self) -> Iterator[Pair]:
        """Yield the questions in order."""
        source, numbers = self.metadata.source, range(len(self.questions))
        ids = self.metadata.question_ids or self.metadata.qa_pair_ids or [f"{source}_no{n}" for n in numbers]
        types = self.metadata.question_types or [""] * len(ids)
        for own, question, answers, type_ in zip(ids, self.questions, self.answers, types, strict=True):
            name = own if self.name == source else f"{self.name}/{own}"
            golds = [answers] if isinstance(answers, str) else answers
            if not isinstance(question, str) or not question.strip():
                yield Pair(name, InvalidPart(question, "the question is empty or no text"))
            elif not isinstance(golds, list) or not golds or not all(isinstance(gold, str) for gold in golds):
                yield Pair(name, InvalidPart(answers, "the accepted answers are no list of texts, or empty"))
            else:
                yield Pair(name, (question, tuple(golds)), type_)


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return one record per row. `files` maps paths in the data folder to files. Raises BadInput."""
    names: dict[str, str] = {}
    texts: Counter[str] = Counter()

    def parse(content: Any) -> tuple[str, Any]:
        row = PublishedRow.model_validate(content)
        source = row.metadata.source
        if family(source) is None:
            raise RecordFault(
                f"at metadata.source: {source!r} is no source of MemoryAgentBench. Fix its name."
            )
        key = digest(source, row.context, row.questions)
        if key not in names:
            texts[source] += 1
            names[key] = source if texts[source] == 1 else f"{source}#{texts[source]}"
        return names[key], row.model_copy(update={"name": names[key]}).model_dump()

    def read(file: File) -> Iterator[RawRecord]:
        if file.source.endswith(TITLES):
            yield RawRecord("the whole file", _titles(file), TITLES)
        else:
            rows = (
                file.parquet_rows(lambda names: FIELDS)
                if file.source.endswith(".parquet")
                else _json_rows(file)
            )
            yield from parse_records(rows, parse)

    return records_of(dataset, files, lambda source: read)


def _titles(file: File) -> dict[str, str]:
    """Return the titles by their ids, of which different ones may have the same."""
    content = file.json()
    if not isinstance(content, dict) or not all(isinstance(number, int) for number in content.values()):
        raise file.bad("the file is not a JSON object of numbers by title")
    return {str(number): title_of(name) for name, number in content.items()}


def titles_of(records: Sequence[Record]) -> dict[str, str]:
    """Return the titles by their ids; empty if the data folder lacks their file."""
    return next((json.loads(row.content) for row in valid_records(records) if row.record_id == TITLES), {})


def _rows(records: Sequence[Record]) -> list[tuple[str, PublishedRow]]:
    """Return the valid rows with the names of their data sets."""
    texts = [record for record in valid_records(records) if record.record_id != TITLES]
    return [(record.dataset, PublishedRow.model_validate(json.loads(record.content))) for record in texts]


def _json_rows(file: File) -> Iterator[RawRecord]:
    content = file.json()
    rows = content if isinstance(content, list) else [content]
    for number, row in enumerate(rows):
        yield RawRecord(f"{_ROW} {number}", row)


def load_rows(domain: Domain, records: Sequence[Record]) -> list[tuple[str, PublishedRow]]:
    """Return the rows that a domain asks with the names of their data sets, up to the domain's limit.

    Raises BadInput if the data set lacks all sources of the domain.
    """
    wanted = parse_config(domain).sources
    there = _rows(records)
    rows = [(dataset, row) for dataset, row in there if not wanted or row.metadata.source in wanted]
    if not rows:
        raise BadInput(
            f"domain {domain.name}: its sources ({', '.join(wanted) or 'all'}) are not in the data, which has "
            f"{', '.join(sorted({row.metadata.source for _, row in there}))}. "
            "Get the other files, or set the parameter `sources`."
        )
    return rows[: domain.limit or None]


def count_contents(records: Sequence[Record]) -> Contents:
    """Return the numbers of texts and questions, and the quarantined questions."""
    pairs = [pair for _, row in _rows(records) for pair in row.pairs()]
    faults = [(pair.name, pair.content.fault) for pair in pairs if isinstance(pair.content, InvalidPart)]
    texts = sum(record.record_id != TITLES for record in records)
    return Contents({"texts": texts, "questions": len(pairs)}, faults)
