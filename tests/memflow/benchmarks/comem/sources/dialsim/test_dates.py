"""Dates of scenes, by hand."""

from datetime import date

import pytest

from memflow.benchmarks.comem.sources.dialsim.dates import day, days


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
