"""Dates and the seasons inferred from them: hand-computed values, properties, and the published script."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.comem.sources.dialsim.seasons import day, days, seasons


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("September 22, 1994", date(1994, 9, 22)),
        (" Sept. 2 1994 ", date(1994, 9, 2)),
        ("may 1st, 2005", date(2005, 5, 1)),
        ("June 31, 1995", None),
        ("Ma 1, 1995", None),
        ("May 1995", None),
        ("some day", None),
        ("", None),
    ],
)
def test_day_parses_valid_dates_and_returns_none_for_other_text(text: str, found: date | None):
    assert day(text) == found


def test_scene_with_invalid_date_gets_date_of_previous_scene():
    first, second = date(1995, 5, 1), date(1995, 5, 3)
    assert days(["?", "May 1, 1995", "??", "May 3, 1995", "?"]) == [first, first, first, second, second]
    assert days(["?"]) == [date.min]


def autumns(*years: int) -> list[str]:
    return [f"October 1, {year}" for year in years]


def test_flashback_scene_starts_no_new_season():
    shown = autumns(
        1994, 1994, 1984, 1994, 2098, 1994, 1994, 1994, 1993, 1995, 1984, 1985, 1995, 1995, 1994, 1995
    )
    assert seasons(shown) == [1] * 9 + [2] * 7


written_days = st.dates(date(1990, 1, 1), date(2000, 1, 1)).map(
    lambda each: f"{each:%B} {each.day}, {each.year}"
)
shown_days = st.lists(st.one_of(st.just("?"), written_days), max_size=60)


@given(shown_days)
def test_season_numbers_of_any_dates_increase_by_at_most_one(shown: list[str]):
    told = seasons(shown)
    assert len(told) == len(shown)
    assert all(later - sooner in (0, 1) for sooner, later in zip([1, *told], told, strict=False))
