"""MemoryBench's unified data set: all data sets in one schema, sampled and split (paper, section 2.3).

Rows become the cases of the original files, with the same probe ids.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks import catalog, locomo
from memflow.benchmarks.memorybench.tasks.task import Case, CorpusSession, Part, Pool, Task, TaskReader
from memflow.benchmarks.memorybench.tasks.unified_cases import CASES, CORPORA, UnifiedRow
from memflow.benchmarks.published_file import File, Said, valid_records
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.errors import BadInput
from memflow.records import Record

_CORPUS = "corpus"
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""End marker of an Arrow stream; a truncated stream has none."""


class CorpusText(BaseModel):
    """The corpus of a unified data set as one text."""

    text: Said


def task_of(dataset: str) -> Task:
    """Return the task of a data set. For example, `unified_judge` has the rows of `judge`."""
    return catalog.task(dataset.removeprefix("unified_"))


def read(file: File) -> list[RawRecord]:
    """Return one record per row, `JuDGE/12`, or the corpus of a file, `corpus/Locomo-3`. Raises BadInput."""
    path, task = PurePosixPath(file.source), task_of(file.dataset.name)
    if path.parent.name == _CORPUS:
        found = list(file.lines())
        if len(found) != 1:
            raise file.bad(f"the file has {len(found)} corpora instead of one")
        named = replace(found[0], record_id=f"{_CORPUS}/{path.stem}")
        return list(parse_records([named], partial(_parse_corpus, task)))
    return list(parse_records(_rows(file, path.suffix), partial(_parse_row, task, _part(file, path))))


def _parse_row(task: Task, part: Part, content: Any) -> tuple[str, Any]:
    if not isinstance(content, Mapping):
        raise RecordFault(
            f"the row is {content!r:.60}, not a JSON object. Write it as in the published file."
        )
    kept = {name: content[name] for name in UnifiedRow.model_fields if content.get(name) is not None}
    kept["part"] = part
    row = UnifiedRow.model_validate(kept)
    if not re.fullmatch(rf"{re.escape(task.published)}(-\d+)?", row.dataset_name):
        raise RecordFault(
            f"`dataset_name` is {row.dataset_name!r}, not {task.published!r}. Move the row to that data set's files."
        )
    if not row.prompt().strip():
        raise RecordFault("the row has no text in `input_prompt` or `input_chat_messages`. Add one of them.")
    try:
        CASES[task.name](row, {})
    except (KeyError, TypeError, ValueError) as error:
        raise RecordFault(
            f"`info` has not the fields of a case of {task.published} ({error!r}). Write it as in the published file."
        ) from error
    return f"{row.dataset_name}/{row.test_idx}", kept


def _parse_corpus(task: Task, content: Any) -> tuple[str, Any]:
    corpus = CorpusText.model_validate(content)
    try:
        CORPORA[task.name](corpus.text)
    except (KeyError, TypeError, ValueError) as error:
        raise RecordFault(
            f"`text` is not a corpus of {task.published} ({error!r}). Write it as in the published file."
        ) from error
    return "", corpus.model_dump()


def _part(file: File, path: PurePosixPath) -> Part:
    """Return the split, training or test, that the file or folder name states.

    Examples are `test.jsonl` and `test/data-00000-of-00001.arrow`.
    """
    for name in (path.name, path.parent.name):
        if said := re.match(r"(train|test)\b", name):
            return "train" if said[1] == "train" else "test"
    raise file.bad("neither the file name nor the folder name begins with train or test")


def _rows(file: File, suffix: str) -> Iterator[RawRecord]:
    if suffix == ".jsonl":
        yield from file.lines()
    elif suffix == ".parquet":
        yield from file.parquet_rows(_fields, batch=1000, start=1)
    elif suffix == ".arrow":
        yield from _arrow_rows(file)
    else:
        raise file.bad(f"the file suffix {suffix!r} is not .arrow, .parquet or .jsonl")


def _arrow_rows(file: File) -> Iterator[RawRecord]:
    import pyarrow as pa  # noqa: PLC0415  (JSON Lines need no Arrow)

    try:
        table = pa.ipc.open_stream(file.content).read_all()
    except (pa.ArrowException, OSError) as error:
        raise file.bad(f"the file is truncated or not a valid arrow file ({error})") from error
    if not file.content.endswith(_END):
        raise file.bad("the file is truncated: the Arrow stream has no end marker")
    rows = table.select(_fields(table.column_names)).to_pylist()
    yield from (RawRecord(f"row {number}", row) for number, row in enumerate(rows, start=1))


def _fields(names: Sequence[str]) -> list[str]:
    return [name for name in names if name in UnifiedRow.model_fields]


def pools(dataset: str, records: Sequence[Record]) -> list[Pool]:
    """Return one pool per published data set: `judge`, `locomo-3`. Raises BadInput if a corpus is missing.

    The cases of a quarantined corpus are quarantined too.
    """
    task = task_of(dataset)
    corpora = {record.record_id: record for record in records if record.record_id.startswith(f"{_CORPUS}/")}
    rows: dict[str, list[UnifiedRow]] = {}
    for record in valid_records(records):
        if record.record_id not in corpora:
            row = UnifiedRow.model_validate_json(record.content)
            rows.setdefault(row.dataset_name, []).append(row)
    found = []
    for published, group in rows.items():
        corpus: tuple[CorpusSession, ...] = ()
        reason: str | None = None
        if task.name in CORPORA:
            told = corpora.get(f"{_CORPUS}/{published}")
            if told is None:
                raise BadInput(
                    f"{dataset}: {_CORPUS}/{published}.jsonl is missing; download the corpus files in "
                    "addition to the train and test files"
                )
            if told.reason is None:
                corpus = tuple(CORPORA[task.name](json.loads(told.content)["text"]))
            else:
                reason = f"its corpus is quarantined: {told.source}, {told.reason}"
        said = locomo.message_texts(corpus)
        cases = [
            replace(_case(task, row, said), reason=reason) if reason else _case(task, row, said)
            for row in group
        ]
        found.append(Pool(task.name + published.removeprefix(task.published), task, cases, corpus))
    return found


def _case(task: Task, row: UnifiedRow, said: Mapping[str, str]) -> Case:
    return replace(CASES[task.name](row, said), language=row.lang, part=row.part)


READER = TaskReader(read, pools=pools, rows="rows")
