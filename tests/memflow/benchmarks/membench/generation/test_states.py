"""The state tables of a generated domain, and what they are drawn from."""

import asyncio
import json
import random
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest

from memflow.benchmarks.api import States
from memflow.benchmarks.datasets import Dataset, dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.generation import preferences, vocabulary
from memflow.benchmarks.membench.generation.graphs import graphs_of
from memflow.benchmarks.membench.generation.user_sources import likes_of, serves, words_of
from memflow.benchmarks.membench.load import read
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadInput, BadSettings
from memflow.records import Record


def shipped(language: str = "en") -> list[Record]:
    """The records of our own words and likes."""
    held = dataset(f"lives_{language}")
    return read(held, {source: Path(str(files("memflow"))) / source for source in held.files})


def domain(language: str = "en", **more: object) -> Domain:
    parameters = {"graphs": 3, "language": language, **more}
    return Domain("d", "membench", (f"lives_{language}",), "", parameters)


def own(tmp_path: Path, text: str) -> list[Record]:
    """The records of a user's own file of likes or words."""
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    held = Dataset("mine", "", "membench", (str(path),), "", "", "", own=True)
    assert serves(held)
    return read(held, {str(path): path})


def states(domain: Domain, records: Sequence[Record]) -> States:
    return asyncio.run(MemBench().states(domain, records, ScriptedChat({})))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_our_words_and_likes_are_records_and_come_back(language: str) -> None:
    records = shipped(language)
    assert len({record.record_id for record in records}) == len(records)
    assert [record.position for record in records] == list(range(len(records)))
    assert words_of(domain(language), records) == vocabulary.shipped(language)
    assert likes_of(domain(language), records) == preferences.shipped(language)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_generated_domain_has_the_lives_of_its_users(language: str) -> None:
    made = states(domain(language, roles=5, events=4), shipped(language))
    lives = graphs_of(made)
    assert [life.user_id for life in lives] == ["u0000", "u0001", "u0002"]
    assert [len(life.roles) for life in lives] == [5, 5, 5]
    assert [len(life.events) for life in lives] == [4, 4, 4]
    assert [profile.name for profile in made.profiles] == [life.user.name for life in lives]
    assert {profile.start_date for profile in made.profiles} == {"2024-10-01"}


def test_fewer_users_are_the_first_of_more() -> None:
    many = states(domain(), shipped())
    few = states(domain().limited(2), shipped())
    assert few.profiles == many.profiles[:2]
    assert few.entities == many.entities[: len(few.entities)]


def test_a_domain_of_published_data_has_no_states() -> None:
    assert states(Domain("d", "membench", ("memdaily",), "", {}), []) == States([])


def test_a_language_without_words_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match="name lives_zh among them"):
        states(domain("zh"), shipped("en"))
    likes = [record for record in shipped() if "likes/book" not in record.record_id]
    with pytest.raises(BadInput, match="what people like of book"):
        states(domain(), likes)


def test_a_wrong_parameter_is_told_first() -> None:
    with pytest.raises(BadSettings, match="parameter roles"):
        states(domain(roles=40), [])


LIKES = {"food": {f"taste{at}": [f"dish{at}.{dish}" for dish in range(5)] for at in range(4)}}


def test_likes_of_a_later_data_set_stand_for_ours_topic_by_topic(tmp_path: Path) -> None:
    records = [*shipped(), *own(tmp_path, json.dumps(LIKES))]
    likes = likes_of(domain(), records)
    assert list(likes.of("food")) == ["taste0", "taste1", "taste2", "taste3"]
    assert likes.of("movie") == preferences.shipped("en").of("movie")
    lives = graphs_of(states(domain(), records))
    assert {life.user["food"] for life in lives} <= set(likes.of("food"))


def test_likes_are_drawn_as_often_as_users_have_them() -> None:
    held = [
        {
            "topic": "food",
            "name": f"taste{at}",
            "items": [f"dish{at}.{dish}" for dish in range(5)],
            "weight": weight,
        }
        for at, weight in enumerate((0, 3, 0, 1))
    ]
    likes = preferences.preferences_of(map(preferences.Category.model_validate, held))
    chance = random.Random(7)
    drawn = [likes.draw("food", chance) for _ in range(4000)]
    assert set(drawn) == {"taste1", "taste3"}
    assert abs(drawn.count("taste1") / len(drawn) - 0.75) < 0.03


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("food: [", "not YAML"),
        ("[1, 2]", "neither words with their language nor items"),
        ("food: {sweet: [a, b]}", "at items"),
        ("drink: {sweet: [a, b, c, d, e]}", "at topic"),
        (json.dumps({"food": {**LIKES["food"], "taste4": LIKES["food"]["taste0"]}}), "in two categories"),
        ("language: en\nname: $given", "at mail"),
    ],
)
def test_a_damaged_list_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        own(tmp_path, text)
