"""LimitGen-Syn: papers with a planted limitation of eleven kinds and four aspects (A.1.1)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, quarantined_case
from memflow.benchmarks.packaged import load_yaml
from memflow.benchmarks.published_file import File, Said
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records, validated
from memflow.records import Record

LIMITATIONS: Mapping[str, Any] = load_yaml(__package__, "limitations.yaml")
"""The aspects of limitations by name, with their `description` and `kinds`."""
ASPECTS = {kind: aspect for aspect, of_aspect in LIMITATIONS.items() for kind in of_aspect["kinds"]}
"""The aspect that an assistant is asked about, by limitation kind."""
_LABELS = "sections"


class Section(BaseModel):
    """A section of a paper."""

    section_id: str
    section_name: str
    text: str


class Paper(BaseModel):
    """A paper with a planted limitation."""

    title: Said
    abstract: str
    sections: list[Section]

    def text(self) -> str:
        """Return the whole text in the published layout."""
        parts = [f"{part.section_id} {part.section_name}:\n{part.text}\n\n" for part in self.sections]
        return f"Title: {self.title}\nAbstract: {self.abstract}\n{''.join(parts)}"


def read(file: File) -> list[RawRecord]:
    """Return the record of a file: a paper, `ablation/2403.00108v1`, or the labels of a kind, `sections/ablation`.

    Raises BadInput for a file that is neither. An invalid file becomes a quarantined record.
    """
    path = PurePosixPath(file.source)
    folder, name = path.parent.name, path.name.removesuffix(".json")
    kind = name if folder == _LABELS else folder
    if kind not in ASPECTS:
        raise file.bad(
            f"the file or folder name {kind!r} is not a limitation kind; the kinds are {', '.join(ASPECTS)}"
        )
    parse = _parse_labels if folder == _LABELS else validated(Paper)
    return list(parse_records([file.whole(f"{folder}/{name}")], parse))


def _parse_labels(content: Any) -> tuple[str, Any]:
    """Return the labels of a kind by paper. Raises RecordFault if none is valid."""
    if not isinstance(content, Mapping) or not any(map(truth_of, content.values())):
        raise RecordFault("no paper in the file has a valid label. Write labels as in the published file.")
    return "", content


def truth_of(label: Any) -> str:
    """Return the planted limitation that a label states; empty for an invalid label."""
    truth = label.get("ground_truth") if isinstance(label, Mapping) else None
    return truth if isinstance(truth, str) and truth.strip() else ""


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all papers as cases, by kind and name. Labels without a paper are ignored.

    An invalid paper is quarantined, and so is a paper with a missing or invalid label.
    """
    by_id = {record.record_id: record for record in records}
    found = []
    for record_id in sorted(by_id):
        kind, _, name = record_id.partition("/")
        if kind == _LABELS:
            continue
        if by_id[record_id].reason is not None:
            found.append(quarantined_case(by_id[record_id]))
            continue
        of_kind = by_id.get(f"{_LABELS}/{kind}")
        labels = {} if of_kind is None or of_kind.reason is not None else json.loads(of_kind.content)
        text = Paper.model_validate_json(by_id[record_id].content).text()
        found.append(case(name, kind, text, truth_of(labels.get(name))))
    return found


def case(paper: str, kind: str, text: str, gold: str) -> Case:
    """Convert a paper to a case. A paper without a label is quarantined, unlike in the published code."""
    return Case(
        case_id=f"{kind}/{paper}",
        question=text.strip(),
        gold=json.dumps({"ground_truth": gold, "category": kind}, ensure_ascii=False),
        revealed=gold,
        category=kind,
        reason=None
        if gold
        else f"the paper {paper} has no valid label in {_LABELS}/{kind}.json; get that file",
    )


READER = TaskReader(read, cases, rows="papers")
