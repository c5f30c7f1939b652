"""State tables of a generated domain, and the vocabulary and preferences that they are sampled from."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from membench_generation import shipped_records

from memflow.benchmarks.api import States
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.generation import preferences, vocabulary
from memflow.benchmarks.membench.generation.graphs import load_graphs
from memflow.benchmarks.membench.generation.user_sources import (
    is_user_source,
    load_preferences,
    load_vocabulary,
)
from memflow.benchmarks.membench.load import read
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadInput
from memflow.records import Record


def domain(language: str = "en", **more: object) -> Domain:
    parameters = {"graphs": 3, "language": language, **more}
    return Domain("d", "membench", (f"lives_{language}",), "", parameters)


def shipped(language: str = "en") -> list[Record]:
    return shipped_records(domain(language))


def own(tmp_path: Path, text: str) -> list[Record]:
    """Return the records of a user-defined file of preferences or words."""
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    source = Dataset("mine", "", "membench", (str(path),), "", "", "", own=True)
    assert is_user_source(source)
    return read(source, {str(path): path})


def states(domain: Domain, records: Sequence[Record]) -> States:
    return asyncio.run(MemBench().states(domain, records, ScriptedChat({})))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_vocabulary_and_preferences_loaded_from_records_equal_bundled_files(language: str) -> None:
    records = shipped(language)
    assert len({record.record_id for record in records}) == len(records)
    assert [record.position for record in records] == list(range(len(records)))
    assert load_vocabulary(domain(language), records) == vocabulary.bundled_vocabulary(language)
    assert load_preferences(domain(language), records) == preferences.bundled_preferences(language)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_generated_domain_has_graph_and_profile_for_each_user(language: str) -> None:
    made = states(domain(language, roles=5, events=4), shipped(language))
    graphs = load_graphs(made)
    assert [life.user_id for life in graphs] == ["u0000", "u0001", "u0002"]
    assert [len(life.roles) for life in graphs] == [5, 5, 5]
    assert [len(life.events) for life in graphs] == [4, 4, 4]
    assert [profile.name for profile in made.profiles] == [life.user.name for life in graphs]
    assert {profile.start_date for profile in made.profiles} == {"2024-10-01"}


def test_domain_without_vocabulary_or_preferences_is_rejected() -> None:
    with pytest.raises(BadInput, match="Add the data set lives_zh"):
        states(domain("zh"), shipped("en"))
    likes = [record for record in shipped() if "likes/book" not in record.record_id]
    with pytest.raises(BadInput, match="none of its data sets has preferences for book"):
        states(domain(), likes)


LIKES = {"food": {f"taste{at}": [f"dish{at}.{dish}" for dish in range(5)] for at in range(4)}}


def test_later_data_set_overrides_preferences_of_its_topics(tmp_path: Path) -> None:
    records = [*shipped(), *own(tmp_path, json.dumps(LIKES))]
    likes = load_preferences(domain(), records)
    assert list(likes.of("food")) == ["taste0", "taste1", "taste2", "taste3"]
    assert likes.of("movie") == preferences.bundled_preferences("en").of("movie")
    graphs = load_graphs(states(domain(), records))
    assert {life.user["food"] for life in graphs} <= set(likes.of("food"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("food: [", "not valid YAML"),
        ("[1, 2]", "neither a vocabulary"),
        ("food: {sweet: [a, b]}", "at items"),
        ("drink: {sweet: [a, b, c, d, e]}", "at topic"),
        (json.dumps({"food": {**LIKES["food"], "taste4": LIKES["food"]["taste0"]}}), "in two categories"),
        ("language: en\nname: $given", "at mail"),
    ],
)
def test_preferences_reader_rejects_invalid_yaml_file(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        own(tmp_path, text)


@pytest.mark.parametrize("items", [None, ["a", "b"], "text", 7])
def test_invalid_category_is_quarantined_without_the_other_categories(items: object, tmp_path: Path) -> None:
    valid = own(tmp_path, json.dumps({"food": LIKES["food"]}))
    found = own(tmp_path, json.dumps({"food": {**LIKES["food"], "damaged": items}}))
    kept = [(record.record_id, record.content) for record in found if record.reason is None]
    assert kept == [(record.record_id, record.content) for record in valid]
    (invalid,) = [record for record in found if record.reason is not None]
    assert str(invalid.reason).startswith("food, damaged: ")
