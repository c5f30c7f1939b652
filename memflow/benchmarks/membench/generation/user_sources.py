"""Reader of the data sets from which user graphs are sampled: vocabularies and preferences.

Our YAML files, and those of users, have a `language` and either a vocabulary or items by topic and category. Each
category and each vocabulary is one record.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml
from pydantic import ValidationError

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.generation.preferences import (
    TOPICS,
    Category,
    Preferences,
    build_preferences,
    parse_categories,
)
from memflow.benchmarks.membench.generation.vocabulary import Vocabulary
from memflow.benchmarks.published_file import File, records_of
from memflow.benchmarks.raw_records import RawRecord, first_error
from memflow.errors import BadInput
from memflow.records import Record

_LISTS = (".yaml", ".yml")
_WORDS = "words/"
_LIKES = "likes/"


def is_user_source(dataset: Dataset) -> bool:
    """Return whether a data set is a source of user graphs."""
    return all(name.endswith(_LISTS) for name in dataset.files)


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return the records of a data set from which user graphs are built. Raises BadInput."""
    return records_of(dataset, files, lambda source: _lists)


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


def _lists(file: File) -> Iterator[RawRecord]:
    """Yield the vocabulary of a file, or its valid categories and then the invalid ones. Raises BadInput."""
    try:
        content = yaml.safe_load(file.text())
        if isinstance(content, dict) and "language" in content:
            words = Vocabulary.model_validate(content)
            yield RawRecord("vocabulary", words.model_dump(mode="json"), _WORDS + words.language)
            return
    except yaml.YAMLError as error:
        raise file.bad(f"the file is not valid YAML ({' '.join(str(error).split())})") from error
    except ValidationError as error:
        raise file.bad(first_error(error)) from error
    if not isinstance(content, dict) or not all(isinstance(each, dict) for each in content.values()):
        raise file.bad("the file has neither a vocabulary with `language` nor items by topic and category")
    categories: list[Category] = []
    invalid: list[RawRecord] = []
    for topic, lists in content.items():
        for name, items in lists.items():
            try:
                categories += parse_categories({topic: {name: items}})
            except (ValidationError, TypeError) as error:
                invalid.append(RawRecord(f"{topic}, {name}", items, fault=_fault(error)))
    if not categories and invalid:
        raise file.bad(f"none of its categories is valid; {invalid[0].where}: {invalid[0].fault}")
    for category in build_preferences(categories).categories:
        name = f"{category.topic}/{category.name}"
        yield RawRecord(name, category.model_dump(mode="json"), _LIKES + name)
    yield from invalid


def _fault(error: Exception) -> str:
    return first_error(error) if isinstance(error, ValidationError) else "the items are not a list"
