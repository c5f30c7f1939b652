"""The bundled vocabulary and preferences: unambiguous words that reveal no answer."""

from typing import get_args

import pytest

from memflow.benchmarks.membench.generation.preferences import bundled_preferences
from memflow.benchmarks.membench.generation.vocabulary import OPTIONS, Language, bundled_vocabulary

languages = pytest.mark.parametrize("language", get_args(Language))


@languages
def test_descriptions_in_vocabulary_do_not_contain_the_described_name(language: Language) -> None:
    words = bundled_vocabulary(language)
    described = [(each.name, each.duty) for each in words.occupations]
    described += [(each.name.split(",")[0], each.known) for each in words.cities]
    described += list(words.hobbies.items())
    assert [name for name, text in described if name.lower() in text.lower()] == []


@languages
def test_words_that_identify_an_entity_occur_once_and_events_have_values_for_all_options(language) -> None:
    words = bundled_vocabulary(language)
    events = words.work_events + words.rest_events
    for names in (
        [city.name for city in words.cities],
        [occupation.name for occupation in words.occupations],
        [name for each in words.occupations for name in each.positions + each.seniors],
        [relation.name for relation in words.relatives + words.colleagues],
        [event.type for event in events],
        [event.content for event in events],
        [thing.type for thing in words.items + words.places],
        [*words.item_names, *words.place_names],
        words.reviews,
    ):
        assert len(set(names)) == len(names)
    for least, most in (counts for event in events for counts in (event.scale_counts, event.duration_counts)):
        assert most - least + 1 >= OPTIONS


@languages
def test_an_item_is_in_one_category_and_all_items_of_a_topic_have_digits_or_none(language) -> None:
    for categories in bundled_preferences(language).values():
        items = [item for group in categories.values() for item in group]
        assert len(categories) >= OPTIONS and len(set(items)) == len(items)
        assert len({any(map(str.isdigit, item)) for item in items}) == 1
