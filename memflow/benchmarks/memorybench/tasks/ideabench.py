"""IdeaBench: research ideas from the abstracts that a paper cites; the idea of the paper itself is the gold (A.1.1).

The published code draws different abstracts in every run. Here the three abstracts depend only on the paper.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks.task import Case, TaskReader, cases_of
from memflow.benchmarks.published_file import File, Said, valid_records
from memflow.benchmarks.raw_records import RawRecord, parse_records, validated
from memflow.fingerprint import seeded
from memflow.records import Record

_REFERENCE = "reference/"
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


def read(file: File) -> Iterator[RawRecord]:
    """Yield one record per target paper or per reference, depending on the columns of the file. Raises BadInput."""
    columns = set(file.csv_header())
    if set(Reference.model_fields) <= columns:
        rows = file.csv_rows(numbered=True)
        named = (replace(row, record_id=f"{_REFERENCE}{row.record_id}") for row in rows)
        yield from parse_records(named, validated(Reference))
    elif set(Target.model_fields) <= columns:
        yield from parse_records(file.csv_rows(), validated(Target, "paperId"))
    else:
        raise file.bad(
            "the header has neither the columns paperId, title and abstract nor targetPaperId and abstract"
        )


def cases(records: Sequence[Record]) -> list[Case]:
    """Return all targets as cases, each with three references."""
    abstracts: dict[str, list[str]] = {}
    for record in valid_records(records):
        if record.record_id.startswith(_REFERENCE):
            reference = Reference.model_validate_json(record.content)
            if reference.abstract.strip():
                abstracts.setdefault(reference.targetPaperId, []).append(reference.abstract)
    targets = [record for record in records if not record.record_id.startswith(_REFERENCE)]
    return cases_of(
        Target,
        targets,
        lambda place, _, target: case(str(place), target, _shown(target, abstracts.get(target.paperId, []))),
    )


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
