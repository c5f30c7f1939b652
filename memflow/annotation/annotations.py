"""What an annotator's file says, held against its sheet: unknown items, labels and sheets are refused, with the place.

A file is JSON Lines: a header with the digest of the sheet and who annotated, then a line for each item that has a
label. Items without one were not annotated; that is no error. The annotation page saves such files; judge.py writes
them too.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import StringConstraints

from memflow.annotation.sheet import Id, Name, Sheet, ShortText, StrictModel, parse_line, read_lines
from memflow.errors import BadInput

ANNOTATION_FILES = "annotations*.jsonl"
"""What the files of annotations are called."""

AnnotatorName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]


class AnnotationsHeader(StrictModel):
    """Which sheet was annotated, and by whom."""

    format: Literal["memflow annotations 1"] = "memflow annotations 1"
    items: ShortText
    annotator: AnnotatorName
    by: Literal["person", "model"] = "person"
    note: ShortText | None = None


class Annotation(StrictModel):
    """The label of one item; null, from a model alone, with the reason why there is none."""

    item: Id
    label: Name | None
    comment: ShortText = ""
    reason: ShortText | None = None


@dataclass(frozen=True)
class Annotations:
    """One annotator's labels and comments by item, and the reasons where a model gave no label."""

    annotator: str
    by: Literal["person", "model"]
    labels: Mapping[str, str]
    comments: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None


def read_annotations(path: Path, sheet: Sheet) -> Annotations:
    """One annotator's file. Raises BadInput naming file and line: another sheet, an unknown item or label."""
    lines = read_lines(path)
    header = parse_line(path, 1, lines, AnnotationsHeader)
    if header.items != sheet.header.digest:
        raise BadInput(
            f"{path}, line 1: it annotates another sheet ({header.items or 'none'}) than the one beside it"
            f" ({sheet.header.digest}): the items were sampled anew, or the file belongs into another folder"
        )
    allowed = {item.id: [label.name for label in item.labels] for item in sheet.items.values()}
    rows: dict[str, Annotation] = {}
    for number in range(2, len(lines) + 1):
        row = parse_line(path, number, lines, Annotation)
        if row.item not in allowed:
            raise BadInput(f"{path}, line {number}: the sheet has no item {row.item!r}")
        if row.item in rows:
            raise BadInput(f"{path}, line {number}: the item {row.item!r} has a label already")
        if row.label is None and (header.by == "person" or row.reason is None):
            raise BadInput(
                f"{path}, line {number}: the item {row.item!r} has no label, and no reason why not"
            )
        if row.label is not None and row.label not in allowed[row.item]:
            known = ", ".join(allowed[row.item])
            raise BadInput(
                f"{path}, line {number}: {row.label!r} is no label of the item {row.item!r}; it allows {known}"
            )
        rows[row.item] = row
    return Annotations(
        header.annotator,
        header.by,
        {name: row.label for name, row in rows.items() if row.label is not None},
        {name: row.comment for name, row in rows.items() if row.comment},
        {name: row.reason for name, row in rows.items() if row.label is None and row.reason is not None},
        header.note,
    )


def read_all(folder: Path, sheet: Sheet) -> list[Annotations]:
    """Every file of annotations in a sheet's folder, by file name. Raises BadInput where one annotates twice."""
    found: dict[str, tuple[Path, Annotations]] = {}
    for path in sorted(folder.glob(ANNOTATION_FILES)):
        one = read_annotations(path, sheet)
        if one.annotator in found:
            other = found[one.annotator][0]
            raise BadInput(
                f"{path}: {one.annotator} has annotated this sheet in {other.name} already; keep one of the two"
            )
        found[one.annotator] = (path, one)
    return [one for _, one in found.values()]


def write_annotations(path: Path, sheet: Sheet, made: Annotations) -> None:
    """Write one annotator's file, in the order of the sheet."""
    header = AnnotationsHeader(
        items=sheet.header.digest, annotator=made.annotator, by=made.by, note=made.note
    )
    rows = [
        Annotation(
            item=item,
            label=made.labels.get(item),
            comment=made.comments.get(item, ""),
            reason=made.failed.get(item),
        )
        for item in sheet.items
        if item in made.labels or item in made.failed
    ]
    written = [json.dumps(row.model_dump(mode="json"), ensure_ascii=False) for row in (header, *rows)]
    path.write_text("\n".join(written) + "\n", encoding="utf-8")
