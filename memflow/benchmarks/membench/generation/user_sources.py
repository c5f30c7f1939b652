"""Reader of the data sets from which user graphs are sampled: vocabularies, preferences and ratings.

Our YAML files, and those of users, have a `language` and either a vocabulary or items by topic and category. Each
category and each vocabulary is one record.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml
from pydantic import ValidationError

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.generation import rating_datasets
from memflow.benchmarks.membench.generation.preferences import (
    TOPICS,
    Category,
    Preferences,
    build_preferences,
    parse_categories,
)
from memflow.benchmarks.membench.generation.streamed_file import StreamedFile
from memflow.benchmarks.membench.generation.vocabulary import Vocabulary
from memflow.benchmarks.raw_records import RawRecord, first_error
from memflow.errors import BadInput
from memflow.records import Record

_LISTS = (".yaml", ".yml")
_WORDS = "words/"
_LIKES = "likes/"


def is_user_source(dataset: Dataset) -> bool:
    """Return whether a data set is a source of user graphs."""
    return dataset.name in rating_datasets.RATING_READERS or all(
        name.endswith(_LISTS) for name in dataset.files
    )


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return the records of a data set from which user graphs are built: first valid records, then invalid lines.

    Raises BadInput.
    """
    streams = [StreamedFile(dataset, source, path) for source, path in files.items()]
    found: list[tuple[RawRecord, StreamedFile]] = []
    if dataset.name in rating_datasets.RATING_READERS:
        made = _categories(dataset, streams)
        found += [(RawRecord("", each.model_dump(mode="json"), _like(each)), streams[0]) for each in made]
    else:
        found += [(raw, stream) for stream in streams for raw in _lists(stream)]
    found += [(raw, stream) for stream in streams for raw in stream.invalid.values()]
    sums = {stream.source: stream.sha256() for stream in streams}
    return [
        Record(
            dataset=dataset.name,
            record_id=raw.record_id or f"{stream.source}, {raw.where}",
            position=position,
            source=stream.source,
            sha256=sums[stream.source],
            licence=dataset.licence,
            origin=dataset.origin,
            content=json.dumps(raw.content, ensure_ascii=False),
            reason=None if raw.fault is None else f"{raw.where}: {raw.fault}",
        )
        for position, (raw, stream) in enumerate(found)
    ]


def _categories(dataset: Dataset, streams: Sequence[StreamedFile]) -> list[Category]:
    """Return the item categories of a ratings file. Raises BadInput, with the first invalid line if there is one."""
    try:
        return rating_datasets.RATING_READERS[dataset.name](rating_datasets.files_by_name(streams))
    except BadInput as wrong:
        for stream in streams:
            for line in stream.invalid.values():
                first = f"{stream.source}: {line.where}: {line.fault}"
                raise BadInput(
                    f"{wrong}; {len(stream.invalid)} lines are invalid, the first is {first}"
                ) from wrong
        raise


def load_vocabulary(domain: Domain, records: Sequence[Record]) -> Vocabulary:
    """Return the vocabulary in the domain's language, from the last data set that has one.

    Raises BadInput if no data set has one.
    """
    language = parameters_of(domain).language
    for record in reversed(records):
        if record.reason is None and record.record_id == _WORDS + language:
            return Vocabulary.model_validate_json(record.content)
    raise BadInput(
        f"domain {domain.name} generates its users, but none of its data sets has a vocabulary in "
        f"the domain's language. Add the data set lives_{language}."
    )


def load_preferences(domain: Domain, records: Sequence[Record]) -> Preferences:
    """Return the preferences of all topics, each from the last data set that has the topic. Raises BadInput."""
    found = Preferences(())
    for name in dict.fromkeys(record.dataset for record in records):
        categories = [
            Category.model_validate_json(record.content)
            for record in records
            if record.dataset == name and record.reason is None and record.record_id.startswith(_LIKES)
        ]
        found = found.replace_topics(build_preferences(categories))
    if lacking := [topic for topic in TOPICS if not found.of(topic)]:
        raise BadInput(
            f"domain {domain.name} generates its users, but none of its data sets has preferences for "
            f"{', '.join(lacking)}. Add the data set lives_{parameters_of(domain).language}."
        )
    return found


def _like(category: Category) -> str:
    return f"{_LIKES}{category.topic}/{category.name}"


def _lists(stream: StreamedFile) -> Iterator[RawRecord]:
    """Yield the vocabulary or each category of a file. An invalid category is listed in `stream.invalid`."""
    try:
        content = yaml.safe_load("".join(stream.lines()))
        if isinstance(content, dict) and "language" in content:
            words = Vocabulary.model_validate(content)
            yield RawRecord("", words.model_dump(mode="json"), _WORDS + words.language)
            return
    except yaml.YAMLError as wrong:
        raise stream.bad(f"the file is not valid YAML ({' '.join(str(wrong).split())})") from wrong
    except ValidationError as wrong:
        raise stream.bad(first_error(wrong)) from wrong
    if not isinstance(content, dict) or not all(isinstance(each, dict) for each in content.values()):
        raise stream.bad("the file has neither a vocabulary with `language` nor items by topic and category")
    categories = []
    for topic, lists in content.items():
        for name, items in lists.items():
            try:
                categories += parse_categories({topic: {name: items}})
            except (ValidationError, TypeError) as wrong:
                fault = (
                    first_error(wrong) if isinstance(wrong, ValidationError) else "the items are not a list"
                )
                stream.omit(f"{topic}, {name}", items, fault)
    if not categories and stream.invalid:
        first = next(iter(stream.invalid.values()))
        raise stream.bad(f"none of its categories is valid; {first.where}: {first.fault}")
    for category in build_preferences(categories).categories:
        yield RawRecord("", category.model_dump(mode="json"), _like(category))
