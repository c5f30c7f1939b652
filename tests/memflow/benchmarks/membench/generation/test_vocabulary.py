"""The bundled vocabulary and preferences: size, unambiguous words, and rejected input."""

from typing import get_args

import pytest
from pydantic import ValidationError

from memflow.benchmarks.membench.generation.preferences import (
    Category,
    build_preferences,
    bundled_preferences,
)
from memflow.benchmarks.membench.generation.vocabulary import (
    Language,
    Vocabulary,
    bundled_vocabulary,
)
from memflow.errors import BadInput

LANGUAGES: tuple[Language, ...] = get_args(Language)


def test_vocabulary_rejects_word_that_occurs_twice() -> None:
    words = bundled_vocabulary("en").model_dump()
    cook = {**words["occupations"][0], "name": "cook"}
    with pytest.raises(ValidationError, match="positions: resident physician occurs twice"):
        Vocabulary.model_validate({**words, "occupations": [*words["occupations"], cook]})
    with pytest.raises(ValidationError, match="names of items and places: Elmfield occurs twice"):
        Vocabulary.model_validate({**words, "place_names": [*words["place_names"], "Elmfield"]})


@pytest.mark.parametrize("language", LANGUAGES)
def test_descriptions_in_vocabulary_do_not_contain_the_described_name(language: Language) -> None:
    words = bundled_vocabulary(language)
    described = [(each.name, each.duty) for each in words.occupations]
    described += [(each.name.split(",")[0], each.known) for each in words.cities]
    described += list(words.hobbies.items())
    assert [name for name, text in described if name.lower() in text.lower()] == []


def test_vocabulary_rejects_lists_with_too_few_words() -> None:
    words = bundled_vocabulary("en").model_dump()
    with pytest.raises(ValidationError, match="hobbies: the list has 1 items instead of at least 11"):
        Vocabulary.model_validate({**words, "hobbies": {"chess": "a game"}})
    with pytest.raises(ValidationError, match="job fair has less than 4 scales or durations"):
        fair, *events = words["work_events"]
        Vocabulary.model_validate({**words, "work_events": [{**fair, "scale_counts": (1, 3)}, *events]})
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
def test_either_all_items_of_a_topic_have_digits_or_none(language: Language) -> None:
    forms: dict[str, set[bool]] = {}
    for category in bundled_preferences(language).categories:
        forms.setdefault(category.topic, set()).update(any(map(str.isdigit, item)) for item in category.items)
    assert [topic for topic, own in forms.items() if len(own) > 1] == []


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
