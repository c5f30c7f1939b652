"""Records of own files, and the dialogues in the records of a domain."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.dialogues.content import OwnDialogue
from memflow.benchmarks.dialogues.dialogues import join_rows
from memflow.benchmarks.dialogues.files import FileFault, SourceRow, read_rows
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.own_files import FileProblem
from memflow.benchmarks.published_file import File, records_of
from memflow.benchmarks.raw_records import RawRecord
from memflow.errors import BadInput
from memflow.records import Record

ADVICE = "`memflow data check FILE` lists all problems"


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return one record per line or row of a data set's files. Raises BadInput for a file of another form."""
    try:
        rows = [row for source, path in files.items() for row in read_rows(source, path.read_bytes())]
    except FileFault as wrong:
        more = f", and {len(wrong.problems) - 1} more problems" if len(wrong.problems) > 1 else ""
        raise BadInput(f"data set {dataset.name}: {wrong.problems[0]}{more}. {ADVICE}.") from wrong
    _, problems = join_rows(dataset.name, rows)
    faults: dict[tuple[str, str], list[FileProblem]] = {}
    for problem in problems:
        faults.setdefault((problem.file, problem.where), []).append(problem)

    def raw_records(source: str) -> Iterator[RawRecord]:
        for row in rows:
            if row.file == source:
                found = faults.get((row.file, row.where), [])
                yield RawRecord(row.where, row.content, "", _record_fault(row, found))

    def reader(source: str) -> Callable[[File], Iterator[RawRecord]]:
        return lambda file: raw_records(source)

    return records_of(dataset, files, reader)


def _record_fault(row: SourceRow, problems: Sequence[FileProblem]) -> str | None:
    """Return the error of a record; None if the record is valid, or invalid only in questions of a dialogue."""
    own = [each for each in problems if not (each.item.startswith("question ") and row.fault is None)]
    if not own:
        return None
    place = ", ".join(part for part in (own[0].item, own[0].field) if part)
    more = f" (and {len(own) - 1} more problems)" if len(own) > 1 else ""
    return f"{place}: {own[0].text}{more}" if place else f"{own[0].text}{more}"


def count_contents(dataset: Dataset, records: Sequence[Record]) -> Contents:
    """Return the numbers of dialogues, messages and questions, and the quarantined questions of valid records."""
    dialogues, problems = join_rows("", _rows(records))
    counts = {
        "dialogues": len(dialogues),
        "messages": sum(len(dialogue.messages) for dialogue in dialogues),
        "questions": sum(len(each.questions) for each in dialogues),
    }
    invalid = {(record.source, where_of(record)) for record in records if record.reason is not None}
    quarantined = [
        (f"{problem.file}, {problem.place}", problem.text)
        for problem in problems
        if (problem.file, problem.where) not in invalid
    ]
    return Contents(counts, quarantined)


def load_dialogues(domain: Domain, records: Sequence[Record]) -> list[OwnDialogue]:
    """Return the dialogues of a domain, up to its limit. Raises BadInput if two data sets have the same dialogue."""
    by_dataset: dict[str, list[Record]] = {}
    for record in records:
        by_dataset.setdefault(record.dataset, []).append(record)
    found: dict[str, OwnDialogue] = {}
    for dataset, of_dataset in by_dataset.items():
        for dialogue in join_rows(dataset, _rows(of_dataset))[0]:
            if dialogue.dialogue_id in found:
                raise BadInput(
                    f"domain {domain.name}: the dialogue {dialogue.dialogue_id} is in the data sets "
                    f"{found[dialogue.dialogue_id].dataset} and {dataset}. Remove one of the data sets."
                )
            found[dialogue.dialogue_id] = dialogue
    return list(found.values())[: domain.limit or None]


def where_of(record: Record) -> str:
    """Return the line or row of a record in its file."""
    return record.record_id.removeprefix(f"{record.source}, ")


def _rows(records: Sequence[Record]) -> Iterator[SourceRow]:
    for record in records:
        content = json.loads(record.content)
        fault = None if isinstance(content, dict) else record.reason or "the row is not a JSON object"
        yield SourceRow(record.source, where_of(record), content, fault)
