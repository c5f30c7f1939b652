"""Tables of the command line, fitted to the width of the terminal."""

import factories
import pytest
from rich.console import Console

from memflow.cli.output import table
from memflow.cli.summary import leaderboard_table

LONG = "membench_memory_2_4_30@a_long_model_name"
WIDTHS = pytest.mark.parametrize("width", [80, 140])


def printed(shown, width: int) -> str:
    console = Console(width=width, highlight=False)
    with console.capture() as captured:
        console.print(shown)
    lines = captured.get().splitlines()
    assert max(map(len, lines)) <= width
    return captured.get()


@WIDTHS
def test_narrow_table_hides_and_lists_columns_instead_of_truncating_names(width: int) -> None:
    numbers = [f"metric\nnumber_{at}" for at in range(4)]
    row = ["a metric of some length", LONG, *(["0.123 [0.100 0.150]"] * 4), "a reason in words"]
    text = printed(table("", ["metric", "assistant", *numbers, "reason"], [row] * 2, right=numbers), width)
    assert text.count(LONG) == 2 and "…" not in text
    assert all(f"number_{at}" in text for at in range(4)) and "reason" in text
    assert ("Not shown" in text) == (width == 80)


def test_narrow_table_hides_optional_columns_first_and_never_lists_empty_columns() -> None:
    row = [LONG, "1" * 20, "2" * 20, "3" * 20, ""]
    columns = ["memory", "first", "second", "third", "reason"]
    text = printed(table("", columns, [row], right=columns[1:], optional=("first", "reason")), 90)
    assert "Not shown at a width of 90 characters: first." in text
    assert "2" * 20 in text and "3" * 20 in text and "reason" not in text


def test_table_wraps_a_name_wider_than_the_terminal() -> None:
    text = printed(table("", ["assistant", "n"], [[LONG * 2, 1]], right=["n"]), 60)
    assert "".join(text.replace("1", "").split()).removeprefix("assistantn") == LONG.replace("1", "") * 2


@WIDTHS
def test_leaderboard_table_shows_the_full_assistant_name(width: int) -> None:
    metrics = ("accuracy", "write_failure", "read_failure", "utilization_failure", "forgetting", "unparsed")
    scores = [factories.score(assistant=LONG, metric=metric, low=0.1, high=0.9) for metric in metrics]
    assert LONG in printed(leaderboard_table(scores), width)


@WIDTHS
def test_leaderboard_and_usage_commands_do_not_truncate_names(measured, monkeypatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    rows = measured.json("usage")["usage"]
    shown = measured("usage").stdout.split()
    assert {row[name] for row in rows for name in ("stage", "role")} < {*shown}
    board = measured("show", "leaderboard", "--slices").stdout
    for assistant in ("none", "oracle", "full", "awi"):
        assert f" {assistant} " in board
    assert "evidence_precision" in board
