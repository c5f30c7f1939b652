"""A file of keys that were made elsewhere: no dialogues. Its form is curation/key_file.py.

Here the file is read, and refused where it is none; whether its keys are for the domain's questions is
curation/imported.py.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from memflow.benchmarks.comem.annotation.label_file import Header, Keyed
from memflow.benchmarks.comem.config import Parameters
from memflow.benchmarks.comem.contexts import Context
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import File
from memflow.records import Record

HEADER = "keys:header"
"""The id of the record that holds the header; those of the others are their questions'."""


def read(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    """The header and the questions of a file, with their ids. Raises BadInput with line and fault."""
    header: Header | None = None
    seen: dict[str, int] = {}
    for place, (number, raw) in enumerate(file.numbered(), start=1):
        where = f"line {number}"
        # A record's line is told by its position, when its question is looked for.
        if number != place:
            raise file.bad(f"line {place} is empty")
        if header is None:
            header = file.shaped(Header, raw, where)
            yield HEADER, raw
            continue
        question = file.shaped(Keyed, raw, where).question_id
        if question in seen:
            raise file.bad(f"{where}: question {question} is there twice, first in line {seen[question]}")
        seen[question] = number
        yield question, raw
    if header is None:
        raise file.bad("it is empty")
    if header.questions is not None and header.questions != len(seen):
        raise file.bad(
            f"it has {len(seen)} questions, where its first line says {header.questions}; is it cut off?"
        )


def contexts(domain: Domain, records: Sequence[Record], parameters: Parameters) -> list[Context]:
    """None."""
    return []
