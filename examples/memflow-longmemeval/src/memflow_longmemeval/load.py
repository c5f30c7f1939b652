"""Reading of the published files, and the numbers of their questions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.published_file import valid_records
from memflow.benchmarks.raw_records import RawRecord, parse_records, validated
from memflow.benchmarks.streamed_file import streamed_records
from memflow.records import Record
from memflow_longmemeval.instances import Instance
from memflow_longmemeval.types import TYPES, is_abstention


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return one record per question. An invalid question is quarantined with its position, field and error."""

    def parse(raws: Iterable[RawRecord]) -> Iterable[RawRecord]:
        return parse_records(raws, validated(Instance, "question_id"))

    return streamed_records(dataset, files, "question", parse)


class _Kind(BaseModel):
    """The part of a record that is counted."""

    question_id: Any = ""
    question_type: Any = ""
    haystack_sessions: Any = ()


def count_contents(records: Sequence[Record]) -> Contents:
    """Return the numbers of questions by type, of abstention questions, and of sessions; of valid records."""
    kinds = [_Kind.model_validate_json(record.content) for record in valid_records(records)]
    types = Counter(each.question_type for each in kinds)
    return Contents(
        {
            "questions": len(kinds),
            "abstention questions": sum(is_abstention(each.question_id) for each in kinds),
            **{name: types[name] for name in TYPES},
            "sessions": sum(len(each.haystack_sessions) for each in kinds),
        }
    )
