"""The reader of published AMemGym users, and a function that selects the reader of each data file.

generation/persona_files.py reads persona files; recorded_dialogues.py and recorded_results.py read recorded runs. An
invalid file is rejected as a whole. states.py, turns.py and probes.py convert the records.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memflow.benchmarks.amemgym.generation.persona_files import ENDINGS, read_personas
from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.amemgym.recorded_dialogues import is_recorded, may_be_recorded, read_dialogues
from memflow.benchmarks.amemgym.recorded_results import read_results, results_file
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.published_file import File, records_of
from memflow.errors import BadInput, MissingData
from memflow.records import Record


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return one record per published user, per persona, per user and period of a recorded run, or per file of results.

    Raises MissingData for a missing file, and BadInput with the file, the record and the fault.
    """
    for source in dataset.files:
        if source not in files or not files[source].is_file():
            raise MissingData(f"{dataset.name}: {source} is missing. {dataset.how}")
    return records_of(dataset, {source: files[source] for source in dataset.files}, lambda source: _read)


def _read(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    if results_file(file.source):
        yield from read_results(file)
    elif may_be_recorded(file.source) and is_recorded(file.source, text := file.text()):
        try:
            yield from read_dialogues(file.source, text)
        except BadInput as error:
            raise file.bad(str(error).removesuffix(".")) from error
    else:
        yield from (read_personas if file.source.endswith(ENDINGS) else read_users)(file)


def read_users(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id and the content of every published user. Raises BadInput with the record and the fault."""
    users = file.json()
    if not isinstance(users, list) or not users:
        raise file.bad("the file is not a JSON list of users, or the list is empty")
    for number, content in enumerate(users):
        where = f"record {number}"
        if isinstance(content, dict) and isinstance(content.get("id"), str):
            where += f" (id {content['id']})"
        user = file.shaped(PublishedUser, content, where)
        if errors := user.contradictions():
            raise file.bad(
                f"{where}: two fields contradict each other: {errors[0]} (the first of {len(errors)} "
                "contradictions in this record)"
            )
        yield user.id, content
