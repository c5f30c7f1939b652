"""The reader of published AMemGym users, and a function that selects the reader of each data file.

generation/persona_files.py reads persona files; recorded_dialogues.py and recorded_results.py read recorded runs. An
invalid record is quarantined. states.py, turns.py and probes.py convert the records.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from memflow.benchmarks.amemgym.generation.persona_files import ENDINGS, read_personas
from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.amemgym.recorded_dialogues import is_recorded, read_dialogues
from memflow.benchmarks.amemgym.recorded_results import read_results, results_file
from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.published_file import File, records_of, valid_records
from memflow.benchmarks.raw_records import RawRecord, parse_records, validated
from memflow.errors import MissingData
from memflow.records import Record


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return the records of data files: published users, personas, dialogues of a recorded run, or results.

    Each dialogue is of one user and period. Raises MissingData for a missing file, BadInput for a wrong file format.
    """
    for source in dataset.files:
        if source not in files or not files[source].is_file():
            raise MissingData(f"{dataset.name}: {source} is missing. {dataset.advice}")
    return records_of(dataset, {source: files[source] for source in dataset.files}, lambda source: _read)


def _read(file: File) -> Iterator[RawRecord]:
    if results_file(file.source):
        return read_results(file)
    if is_recorded(file):
        return read_dialogues(file)
    return (read_personas if file.source.endswith(ENDINGS) else read_users)(file)


def read_users(file: File) -> Iterator[RawRecord]:
    """Yield every published user. Raises BadInput if the file is not a list of users."""
    return parse_records(file.json_items("user"), validated(PublishedUser, "id"))


def count_contents(dataset: Dataset, records: Sequence[Record]) -> Contents:
    """Return the numbers of published users, sessions and questions; for other files, the number of records."""
    contents = [json.loads(record.content) for record in valid_records(records)]
    users = [PublishedUser.model_validate(content) for content in contents if "state_schema" in content]
    if not users:
        return Contents({"records": len(records)})
    return Contents(
        {
            "users": len(records),
            "sessions": sum(len(period.sessions) for user in users for period in user.periods),
            "questions": sum(len(user.qas) for user in users),
        }
    )
