"""The day of a date in any format."""

import pytest

from memflow.memories.memory_bank.forgetting import day_of


@pytest.mark.parametrize(
    ("sent_at", "day"),
    [
        (None, None),
        ("", None),
        ("08:13", None),
        ("8 May 2023", "8 May 2023"),
        ("1:56 pm on 8 May, 2023", "8 May, 2023"),
        ("8 May, 2023, 9 a.m.", "8 May, 2023"),
        ("2024-10-01 08:13", "2024-10-01"),
        ("2024-10-01T08:13:05.250+02:00", "2024-10-01"),
        ("2024-10-01T08:13:05Z", "2024-10-01"),
        ("'2024-10-01 08:13' Tuesday", "2024-10-01 Tuesday"),
        ("2024年10月1日 下午3点20分", "2024年10月1日"),
        ("Tuesday, 8 pm", "Tuesday"),
    ],
)
def test_day_of_ignores_time_of_day(sent_at: str | None, day: str | None) -> None:
    assert day_of(sent_at) == day
