"""IdeaBench: research ideas from the abstracts that a paper cites; the idea of the paper itself is the gold (A.1.1).

The published code draws different abstracts in every run. Here the three abstracts depend only on the paper.
"""

import csv
import io
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader
from memflow.benchmarks.published_file import File, Said
from memflow.fingerprint import seeded
from memflow.records import Record

SHOWN = 3
SEED = 42


class Target(BaseModel):
    """A target paper. All fields are required but may be empty."""

    paperId: Said
    title: str
    abstract: str


class Reference(BaseModel):
    """A paper that a target paper cites. The abstract may be empty."""

    targetPaperId: Said
    abstract: str


def read(file: File) -> Iterable[tuple[str, Any]]:
    """Return one record per target or per reference; the columns of the file determine which. Raises BadInput."""
    rows = csv.DictReader(io.StringIO(file.text(), newline=""))
    columns = set(rows.fieldnames or ())
    if set(Reference.model_fields) <= columns:
        return ((f"reference/{number}", row) for number, row in enumerate(_rows(file, rows, Reference)))
    if set(Target.model_fields) <= columns:
        return ((row["paperId"], row) for row in _rows(file, rows, Target))
    raise file.bad(
        "the header has neither the columns paperId, title and abstract nor targetPaperId and abstract"
    )


def _rows(file: File, rows: "csv.DictReader[str]", shape: type[BaseModel]) -> Iterator[dict[str, Any]]:
    try:
        for number, row in enumerate(rows, start=1):
            file.shaped(shape, row, f"row {number}")
            if None in row:
                raise file.bad(f"row {number} has more fields than the header")
            yield row
    except csv.Error as wrong:
        raise file.bad(f"line {rows.line_num} is invalid CSV ({wrong})") from wrong


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all targets as cases, each with three references."""
    contents = [json.loads(record.content) for record in records]
    abstracts: dict[str, list[str]] = {}
    for content in contents:
        if "targetPaperId" in content and content["abstract"].strip():
            abstracts.setdefault(content["targetPaperId"], []).append(content["abstract"])
    targets = [Target.model_validate(content) for content in contents if "targetPaperId" not in content]
    return [
        case(str(place), target, _shown(target, abstracts.get(target.paperId, [])))
        for place, target in enumerate(targets)
    ]


def _shown(target: Target, abstracts: Sequence[str]) -> str:
    """Return up to three abstracts, without braces as in the published code."""
    drawn = random.Random(seeded(SEED, target.paperId)).sample(abstracts, min(SHOWN, len(abstracts)))
    clean = [
        text.replace("{greater than or equal to}", "≥").replace("{", "").replace("}", "") for text in drawn
    ]
    return "\n\n".join(f"Abstract {number}: {text}" for number, text in enumerate(clean, start=1))


def case(case_id: str, target: Target, background: str) -> Case:
    """Convert a target to a case. A target without abstracts is quarantined, unlike in the published code."""
    reason = None
    if not background.strip():
        reason = f"the paper {target.paperId} has no abstract of a reference; get filtered_references.csv"
    elif not target.abstract.strip():
        reason = f"the paper {target.paperId} has no abstract in the published file"
    return Case(
        case_id=case_id,
        question=background.strip(),
        gold=json.dumps({"title": target.title, "abstract": target.abstract}, ensure_ascii=False),
        revealed=f"{target.title}\n{target.abstract}",
        reason=reason,
    )


READER = TaskReader(read, cases, rows="papers")
