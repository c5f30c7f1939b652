"""Reading of the published files, and the numbers of their questions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.longmemeval.instances import Heading, Instance
from memflow.benchmarks.longmemeval.streamed_file import streamed_records
from memflow.benchmarks.longmemeval.types import TYPES, is_abstention
from memflow.benchmarks.published_file import valid_records
from memflow.benchmarks.raw_records import RawRecord, parse_records, validated
from memflow.records import Record


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return one record per question. An invalid question is quarantined with its position, field and error."""

    def parse(raws: Iterable[RawRecord]) -> Iterable[RawRecord]:
        return parse_records(raws, validated(Instance, "question_id"))

    return streamed_records(dataset, files, "question", parse)


def count_contents(records: Sequence[Record]) -> Contents:
    """Return the numbers of questions by type, of abstention questions, and of sessions; of valid records."""
    valid = valid_records(records)
    types: Counter[str] = Counter()
    sessions = 0
    for record in valid:
        heading = Heading.model_validate_json(record.content)
        types[heading.question_type] += 1
        sessions += len(heading.haystack_sessions)
    return Contents(
        {
            "questions": len(valid),
            "abstention questions": sum(is_abstention(record.record_id) for record in valid),
            **{name: types[name] for name in TYPES},
            "sessions": sessions,
        }
    )
