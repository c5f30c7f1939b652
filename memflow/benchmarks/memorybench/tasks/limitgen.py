"""LimitGen-Syn: papers with a planted limitation of eleven kinds and four aspects (A.1.1)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader
from memflow.benchmarks.published_file import File, Said
from memflow.records import Record

ASPECTS: Mapping[str, str] = {
    "ablation": "experimental design",
    "analysis": "result analysis",
    "baseline": "experimental design",
    "citation": "literature review",
    "data": "methodology",
    "dataset": "experimental design",
    "description": "literature review",
    "inappropriate": "methodology",
    "metric": "result analysis",
    "replace": "experimental design",
    "review": "literature review",
}
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


def read(file: File) -> list[tuple[str, dict[str, Any]]]:
    """Return the record of a file: a paper, `ablation/2403.00108v1`, or the labels of a kind, `sections/ablation`.

    Raises BadInput.
    """
    path = PurePosixPath(file.source)
    folder, name = path.parent.name, path.name.removesuffix(".json")
    kind = name if folder == _LABELS else folder
    if kind not in ASPECTS:
        raise file.bad(
            f"the file or folder name {kind!r} is not a limitation kind; the kinds are {', '.join(ASPECTS)}"
        )
    published = file.json()
    if not isinstance(published, dict) or not published:
        raise file.bad("the file is not a JSON object, or the object is empty")
    if folder == _LABELS:
        for paper, label in published.items():
            file.shaped(Label, label, f"paper {paper}")
    else:
        file.shaped(Paper, published, f"paper {name}")
    return [(f"{folder}/{name}", published)]


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all papers as cases, by kind and name. Labels without a paper are ignored."""
    contents = {record.record_id: json.loads(record.content) for record in records}
    found = []
    for record_id in sorted(contents):
        kind, _, name = record_id.partition("/")
        if kind != _LABELS:
            label = contents.get(f"{_LABELS}/{kind}", {}).get(name)
            gold = Label.model_validate(label).ground_truth if label is not None else None
            found.append(case(name, kind, Paper.model_validate(contents[record_id]).text(), gold))
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
