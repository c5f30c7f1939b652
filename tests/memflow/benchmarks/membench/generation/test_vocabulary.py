"""The bundled vocabulary and preferences: size, unambiguous words, and rejected input."""

from itertools import chain
from typing import get_args

import pytest
from pydantic import ValidationError

from memflow.benchmarks.membench.config import Parameters
from memflow.benchmarks.membench.generation import preferences
from memflow.benchmarks.membench.generation.preferences import TOPICS, Category, build_preferences
from memflow.benchmarks.membench.generation.templates import with_article
from memflow.benchmarks.membench.generation.vocabulary import (
    MAX_EVENTS,
    MAX_PEOPLE,
    Language,
    Vocabulary,
    bundled_vocabulary,
)
from memflow.errors import BadInput

LANGUAGES: tuple[Language, ...] = get_args(Language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_bundled_vocabulary_has_required_numbers_of_words(language: Language) -> None:
    words = bundled_vocabulary(language)
    assert words.language == language
    assert len(words.family) >= 120 and sum(map(len, words.given.values())) >= 120
    assert len(words.cities) >= 25 and len(words.occupations) >= 16 and len(words.hobbies) >= 30


def test_vocabulary_rejects_word_that_occurs_twice() -> None:
    words = bundled_vocabulary("en").model_dump()
    cook = {**words["occupations"][0], "name": "cook"}
    with pytest.raises(ValidationError, match="positions: resident physician occurs twice"):
        Vocabulary.model_validate({**words, "occupations": [*words["occupations"], cook]})
    twice = [*words["places"], {**words["places"][0], "type": "flat"}]
    with pytest.raises(ValidationError, match="names of items and places: Greenmeadow Court occurs twice"):
        Vocabulary.model_validate({**words, "places": twice})


@pytest.mark.parametrize("language", LANGUAGES)
def test_descriptions_in_vocabulary_do_not_contain_the_described_name(language: Language) -> None:
    words = bundled_vocabulary(language)
    described = [(each.name, each.duty) for each in words.occupations]
    described += [(each.name.split(",")[0], each.known) for each in words.cities]
    described += list(words.hobbies.items())
    assert [name for name, text in described if name.lower() in text.lower()] == []


def test_parameters_reject_more_people_or_events_than_vocabulary_allows() -> None:
    assert Parameters(roles=MAX_PEOPLE, events=MAX_EVENTS)
    for beyond in ({"roles": MAX_PEOPLE + 1}, {"events": MAX_EVENTS + 1}):
        with pytest.raises(ValidationError):
            Parameters.model_validate(beyond)


def test_vocabulary_rejects_lists_with_too_few_words() -> None:
    words = bundled_vocabulary("en").model_dump()
    with pytest.raises(ValidationError, match="hobbies: the list has 1 items instead of at least 11"):
        Vocabulary.model_validate({**words, "hobbies": {"chess": "a game"}})
    with pytest.raises(ValidationError, match="nurse has too few positions"):
        Vocabulary.model_validate(
            {
                **words,
                "occupations": [
                    {**each, "positions": each["positions"][:4]} if each["name"] == "nurse" else each
                    for each in words["occupations"]
                ],
            }
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_bundled_preference_item_has_exactly_one_category(language: Language) -> None:
    for topic in TOPICS:
        words = preferences.bundled_preferences(language).of(topic)
        assert len(words) >= 8 and min(map(len, words.values())) >= 8
        items = list(chain.from_iterable(words.values()))
        assert len(set(items)) == len(items)


def _categories(count: int = 4, weight: int = 1) -> list[Category]:
    return [
        Category(
            topic="food", name=f"c{at}", items=tuple(f"i{at}.{item}" for item in range(5)), weight=weight
        )
        for at in range(count)
    ]


def test_build_preferences_rejects_too_few_zero_weight_or_overlapping_categories() -> None:
    assert build_preferences(_categories())
    with pytest.raises(BadInput, match="food has 3 categories"):
        build_preferences(_categories(3))
    with pytest.raises(BadInput, match="all categories of food"):
        build_preferences(_categories(weight=0))
    twice = [*_categories(), Category(topic="food", name="c9", items=("a", "b", "c", "d", "i0.0"))]
    with pytest.raises(BadInput, match=r"'i0.0' of food is in two categories"):
        build_preferences(twice)


@pytest.mark.parametrize(
    ("noun", "with_it"),
    [
        ("accountant", "an accountant"), ("interpreter", "an interpreter"), ("nurse", "a nurse"),
        ("outdoor trip", "an outdoor trip"), ("university lecturer", "a university lecturer"),
        ("hour", "an hour"), ("one-day course", "a one-day course"),
    ],
)  # fmt: skip
def test_noun_takes_the_indefinite_article_of_its_first_sound(noun: str, with_it: str) -> None:
    assert with_article(noun) == with_it


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_bundled_event_lasts_longer_than_nine_weeks_except_programs_contests_and_challenges(
    language: Language,
) -> None:
    words = bundled_vocabulary(language)
    months = {each.type for each in (*words.work_events, *words.rest_events) if each.duration == "month"}
    assert (
        months
        == {
            "en": {"innovation contest", "exchange program", "fitness challenge"},
            "zh": {"创新大赛", "交流项目", "健身挑战"},
        }[language]
    )
    concerts = [each for each in words.rest_events if each.type in ("concert", "音乐会")]
    assert [each.duration_counts for each in concerts] == [(1, 3)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_bundled_food_item_fits_two_taste_categories(language: Language) -> None:
    ambiguous = {
        "en": ("sorbet", "butter chicken", "chipotle", "lime tart", "kimchi", "panna cotta", "peppermint"),
        "zh": ("酸辣", "酸菜鱼", "糖醋", "双皮奶", "奶酪包", "黑巧克力", "酸梅汤"),
    }[language]
    foods = [
        item for group in preferences.bundled_preferences(language).of("food").values() for item in group
    ]
    assert not [item for item in foods if any(word in item for word in ambiguous)]
