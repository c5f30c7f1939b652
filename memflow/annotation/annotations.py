"""Files of annotations, validated against their sheet.

A file is JSON Lines: a header with the sheet's digest and the annotator, then one line per labeled item. The
annotation page writes these files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import StringConstraints

from memflow.annotation.sheet import (
    Id,
    Name,
    Sheet,
    ShortText,
    StrictModel,
    parse_line,
    read_lines,
    read_sheet,
)
from memflow.errors import BadInput

ANNOTATION_FILES = "annotations*.jsonl"
"""File name pattern of annotations."""

AnnotatorName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]


class AnnotationsHeader(StrictModel):
    """The first line of an annotations file: the sheet's digest and the annotator."""

    format: Literal["memflow annotations 1"] = "memflow annotations 1"
    items: ShortText
    annotator: AnnotatorName


class Annotation(StrictModel):
    """The label of one item, with a comment."""

    item: Id
    label: Name
    comment: ShortText = ""


@dataclass(frozen=True)
class Annotations:
    """The labels and comments of one annotator, by item."""

    annotator: str
    labels: Mapping[str, str]
    comments: Mapping[str, str] = field(default_factory=dict)


def read_annotations(path: Path, sheet: Sheet) -> Annotations:
    """Return the annotations in one annotator's file.

    Raises BadInput with file and line for a file of another sheet, an unknown item or label, or a duplicate item.
    """
    lines = read_lines(path)
    header = parse_line(path, 1, lines, AnnotationsHeader)
    if header.items != sheet.header.digest:
        raise BadInput(
            f"{path}, line 1: the sheet digest `items` is {header.items!r}, but the sheet in this "
            f"folder has the digest {sheet.header.digest!r}. Move the file to the folder of its sheet."
        )
    allowed = {item.id: [label.name for label in item.labels] for item in sheet.items.values()}
    rows: dict[str, Annotation] = {}
    for number in range(2, len(lines) + 1):
        row = parse_line(path, number, lines, Annotation)
        if row.item not in allowed:
            raise BadInput(
                f"{path}, line {number}: the item {row.item!r} is not in this folder's sheet. Remove the "
                "line, or move it to the file of the item's sheet."
            )
        if row.item in rows:
            raise BadInput(
                f"{path}, line {number}: the item {row.item!r} already has a label in an earlier line. "
                "Keep one of the two lines."
            )
        if row.label not in allowed[row.item]:
            known = ", ".join(allowed[row.item])
            raise BadInput(
                f"{path}, line {number}: {row.label!r} is not a label of the item {row.item!r}. Use one "
                f"of: {known}"
            )
        rows[row.item] = row
    return Annotations(
        header.annotator,
        {name: row.label for name, row in rows.items()},
        {name: row.comment for name, row in rows.items() if row.comment},
    )


def read_all(folder: Path, sheet: Sheet) -> list[Annotations]:
    """Return the annotations of every file in a sheet's folder. Raises BadInput if an annotator has two files."""
    found: dict[str, tuple[Path, Annotations]] = {}
    for path in sorted(folder.glob(ANNOTATION_FILES)):
        one = read_annotations(path, sheet)
        if one.annotator in found:
            other = found[one.annotator][0]
            raise BadInput(
                f"{path}: the annotator {one.annotator} has a second file for this sheet, {other.name}. "
                "Keep one of the two files."
            )
        found[one.annotator] = (path, one)
    return [one for _, one in found.values()]


def written_texts(folder: Path, domain: str, kind: str) -> dict[str, str]:
    """Return the comments on a sheet by unit; the first annotator's, by file name, where several wrote one.

    Raises BadInput for a sheet of another domain or kind, and if nobody wrote a comment.
    """
    sheet = read_sheet(folder)
    if (sheet.header.domain, sheet.header.kind) != (domain, kind):
        raise BadInput(
            f"the sheet in {folder} is of the kind {sheet.header.kind} in {sheet.header.domain}. Use one of the kind "
            f"{kind} in {domain}."
        )
    units = {item.id: unit.id for unit in sheet.units for item in unit.items}
    texts: dict[str, str] = {}
    for annotations in read_all(folder, sheet):
        for item, comment in annotations.comments.items():
            texts.setdefault(units[item], comment.strip())
    if not texts:
        raise BadInput(f"nobody has written a comment on the sheet in {folder}. Save the annotations there.")
    return texts
