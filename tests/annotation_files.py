"""Annotation files as the page of a sheet saves them."""

import json
from pathlib import Path

from memflow.annotation.annotations import Annotation, Annotations, AnnotationsHeader
from memflow.annotation.sheet import Sheet


def write_annotations(path: Path, sheet: Sheet, made: Annotations) -> None:
    """Write one annotator's annotations to `path`, one line per item in the order of the sheet."""
    header = AnnotationsHeader(items=sheet.header.digest, annotator=made.annotator)
    rows = [
        Annotation(item=item, label=made.labels[item], comment=made.comments.get(item, ""))
        for item in sheet.items
        if item in made.labels
    ]
    written = [json.dumps(row.model_dump(mode="json"), ensure_ascii=False) for row in (header, *rows)]
    path.write_text("\n".join(written) + "\n", encoding="utf-8")
