"""LimitGen-Syn: papers with a planted limitation of eleven kinds and four aspects (A.1.1)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, quarantined_case
from memflow.benchmarks.packaged import load_yaml
from memflow.benchmarks.partial import OR_INVALID, InvalidPart
from memflow.benchmarks.published_file import File, Said
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
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


class Label(BaseModel):
    """The planted limitation of a paper."""

    ground_truth: Said


_Labels = TypeAdapter(dict[str, Annotated[Label | InvalidPart, OR_INVALID]])


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
    parse = _parse_labels if folder == _LABELS else _parse_paper
    return list(parse_records([file.whole(f"{folder}/{name}")], parse))


def _parse_labels(content: Any) -> tuple[str, Any]:
    labels = _Labels.validate_python(content)
    if not labels:
        raise RecordFault("the file has no labels")
    faults = [f"paper {name}: {each.fault}" for name, each in labels.items() if isinstance(each, InvalidPart)]
    if len(faults) == len(labels):
        raise RecordFault(f"the file has no valid label; {faults[0]}")
    return "", content


def _parse_paper(content: Any) -> tuple[str, Any]:
    Paper.model_validate(content)
    return "", content


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all papers as cases, by kind and name. Labels without a paper are ignored.

    An invalid paper is quarantined, and so is a paper with a missing or invalid label.
    """
    by_id = {record.record_id: record for record in records}
    labels = {
        record_id: _Labels.validate_json(record.content)
        for record_id, record in by_id.items()
        if record_id.startswith(f"{_LABELS}/") and record.reason is None
    }
    found = []
    for record_id in sorted(by_id):
        kind, _, name = record_id.partition("/")
        if kind == _LABELS:
            continue
        if by_id[record_id].reason is not None:
            found.append(quarantined_case(by_id[record_id]))
            continue
        label = labels.get(f"{_LABELS}/{kind}", {}).get(name)
        gold = label.ground_truth if isinstance(label, Label) else None
        made = case(name, kind, Paper.model_validate_json(by_id[record_id].content).text(), gold)
        if isinstance(label, InvalidPart):
            made = replace(made, reason=f"{_LABELS}/{kind}.json, paper {name}: {label.fault}")
        found.append(made)
    return found


def case(paper: str, kind: str, text: str, gold: str | None) -> Case:
    """Convert a paper to a case. A paper without a label is quarantined, unlike in the published code."""
    return Case(
        case_id=f"{kind}/{paper}",
        question=text.strip(),
        gold=json.dumps({"ground_truth": gold or "", "category": kind}, ensure_ascii=False),
        revealed=gold or "",
        category=kind,
        reason=None if gold else f"the paper {paper} has no label in {_LABELS}/{kind}.json; get that file",
    )


READER = TaskReader(read, cases, rows="papers")
