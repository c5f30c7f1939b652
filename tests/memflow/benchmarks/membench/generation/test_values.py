"""Formatting of attribute values, and parsing of formatted values."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.membench.generation import values
from memflow.benchmarks.membench.generation.vocabulary import Language

language = st.sampled_from(("en", "zh"))


def test_attribute_values_are_formatted_in_english_and_chinese() -> None:
    assert values.format_age(28, "en") == "28 years old"
    assert values.format_height(165, "zh") == "165厘米"
    assert values.format_birthday(8, 13, "en") == "August 13"
    assert values.format_scale(9, "hundred", "en") == "nine hundred people"
    assert values.format_scale(2, "ten", "en") == "twenty people"
    assert [values.format_scale(count, "ten", "zh") for count in (1, 2)] == ["十人", "二十人"]
    assert values.format_scale(2, "thousand", "zh") == "两千人"
    assert values.format_duration(1, "day", "en") == "one day"
    assert values.format_duration(8, "week", "en") == "eight weeks"
    assert values.format_duration(2, "month", "zh") == "两个月"
    assert values.format_relative_time(9, 14, "en") == "nine days from today at 2:00 PM"
    assert values.format_relative_time(2, 19, "zh") == "两天后的晚上七点"
    assert values.format_relative_time(13, 9, "zh") == "十三天后的上午九点"


@given(st.integers(1, 12), st.integers(1, 31), st.integers(1, 120), st.integers(50, 250), language)
def test_formatted_birthday_age_and_height_are_parsed_to_same_numbers(
    month: int, day: int, years: int, size: int, language: Language
) -> None:
    assert values.parse_birthday(values.format_birthday(month, day, language)) == (month, day)
    assert values.parse_size(values.format_age(years, language)) == years
    assert values.parse_size(values.format_height(size, language)) == size


@given(st.sampled_from(values.RELATIVE_DAYS), st.sampled_from(values.HOURS), language)
def test_relative_time_is_counted_in_days_from_the_day_of_the_message(
    days: int, hour: int, language: Language
) -> None:
    spoken = values.format_relative_time(days, hour, language)
    due = datetime(2024, 10, 7, hour) + timedelta(days=days)
    for sent_at in (datetime(2024, 10, 7, 7, 1), datetime(2024, 10, 7, 21, 59)):
        assert values.resolve_time(spoken, sent_at) == due


@pytest.mark.parametrize(
    ("language", "text"), [("en", "on October 12, 2024 at 7:00 PM"), ("zh", "2024年10月12日晚上七点")]
)
def test_absolute_time_is_resolved_independently_of_message_time(language: Language, text: str) -> None:
    assert values.format_absolute_time(datetime(2024, 10, 12, 19), language) == text
    assert values.resolve_time(text, datetime(2030, 1, 1)) == datetime(2024, 10, 12, 19)
