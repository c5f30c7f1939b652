"""MemoryBench's unified data set: all data sets in one schema, sampled and split (paper, section 2.3).

Rows become the cases of the original files, with the same probe ids.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks import catalog, locomo
from memflow.benchmarks.memorybench.tasks.task import Case, CorpusSession, Part, Pool, Task, TaskReader
from memflow.benchmarks.memorybench.tasks.unified_cases import CASES, CORPORA
from memflow.benchmarks.memorybench.tasks.unified_row import UnifiedRow
from memflow.benchmarks.published_file import File, Said
from memflow.errors import BadInput
from memflow.records import Record

_CORPUS = "corpus"
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""End marker of an Arrow stream; a truncated stream has none."""


class JsonRow(BaseModel):
    """A row of a unified file as an unvalidated JSON object. `UnifiedRow` is the schema."""


class CorpusText(BaseModel):
    """The corpus of a unified data set as one text."""

    text: Said


def task_of(dataset: str) -> Task:
    """Return the task of a data set. For example, `unified_judge` has the rows of `judge`."""
    return catalog.task(dataset.removeprefix("unified_"))


def read(file: File) -> list[tuple[str, dict[str, Any]]]:
    """Return one record per row, `JuDGE/12`, or the corpus of a file, `corpus/Locomo-3`. Raises BadInput."""
    path, task = PurePosixPath(file.source), task_of(file.dataset.name)
    if path.parent.name == _CORPUS:
        return [(f"{_CORPUS}/{path.stem}", _corpus(file, task))]
    part = _part(file, path)
    found = []
    for number, published in enumerate(_rows(file, path.suffix), start=1):
        kept = {name: published[name] for name in UnifiedRow.model_fields if published.get(name) is not None}
        kept["part"] = part
        row = file.shaped(UnifiedRow, kept, f"row {number}")
        if not re.fullmatch(rf"{re.escape(task.published)}(-\d+)?", row.dataset_name):
            raise file.bad(f"row {number} belongs to the data set {row.dataset_name}, not {task.published}")
        if not row.prompt().strip():
            raise file.bad(f"row {number} has neither input_prompt nor input_chat_messages")
        try:
            CASES[task.name](row, {})
        except (KeyError, TypeError, ValueError) as wrong:
            raise file.bad(
                f"row {number}: the field `info` does not match {task.published} ({wrong!r})"
            ) from wrong
        found.append((f"{row.dataset_name}/{row.test_idx}", kept))
    return found


def _corpus(file: File, task: Task) -> dict[str, Any]:
    found = [corpus for _, corpus in file.lines(CorpusText)]
    if len(found) != 1:
        raise file.bad(f"the file has {len(found)} corpora instead of one")
    try:
        CORPORA[task.name](found[0].text)
    except (KeyError, TypeError, ValueError) as wrong:
        raise file.bad(f"the text of the file is not a corpus of {task.published} ({wrong!r})") from wrong
    return found[0].model_dump()


def _part(file: File, path: PurePosixPath) -> Part:
    """Return the split, training or test, that the file or folder name states.

    Examples are `test.jsonl` and `test/data-00000-of-00001.arrow`.
    """
    for name in (path.name, path.parent.name):
        if said := re.match(r"(train|test)\b", name):
            return "train" if said[1] == "train" else "test"
    raise file.bad("neither the file name nor the folder name begins with train or test")


def _rows(file: File, suffix: str) -> Iterator[Mapping[str, Any]]:
    if suffix == ".jsonl":
        yield from (raw for raw, _ in file.lines(JsonRow))
        return
    try:
        if suffix == ".parquet":
            table = pq.read_table(pa.BufferReader(file.content))
        elif suffix == ".arrow":
            table = pa.ipc.open_stream(file.content).read_all()
        else:
            raise file.bad(f"the file suffix {suffix!r} is not .arrow, .parquet or .jsonl")
    except (pa.ArrowException, OSError) as wrong:
        raise file.bad(f"the file is truncated or not a valid {suffix[1:]} file ({wrong})") from wrong
    if suffix == ".arrow" and not file.content.endswith(_END):
        raise file.bad("the file is truncated: the Arrow stream has no end marker")
    yield from table.select(
        [name for name in table.column_names if name in UnifiedRow.model_fields]
    ).to_pylist()


def pools(dataset: str, records: Sequence[Record]) -> list[Pool]:
    """Return one pool per published data set: `judge`, `locomo-3`. Raises BadInput if a corpus is missing."""
    task = task_of(dataset)
    contents = {record.record_id: json.loads(record.content) for record in records}
    rows: dict[str, list[UnifiedRow]] = {}
    for record_id, content in contents.items():
        if not record_id.startswith(f"{_CORPUS}/"):
            row = UnifiedRow.model_validate(content)
            rows.setdefault(row.dataset_name, []).append(row)
    found = []
    for published, group in rows.items():
        corpus: tuple[CorpusSession, ...] = ()
        if task.name in CORPORA:
            told = contents.get(f"{_CORPUS}/{published}")
            if told is None:
                raise BadInput(
                    f"{dataset}: {_CORPUS}/{published}.jsonl is missing; download the corpus files in "
                    "addition to the train and test files"
                )
            corpus = tuple(CORPORA[task.name](told["text"]))
        said = locomo.message_texts(corpus)
        cases = [_case(task, row, said) for row in group]
        found.append(Pool(task.name + published.removeprefix(task.published), task, cases, corpus))
    return found


def _case(task: Task, row: UnifiedRow, said: Mapping[str, str]) -> Case:
    return replace(CASES[task.name](row, said), language=row.lang, part=row.part)


READER = TaskReader(read, pools=pools, rows="rows")
