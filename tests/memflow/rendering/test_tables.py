"""Tables, fitted to the width of the terminal."""

import factories
import pytest

from memflow.rendering.scores import leaderboard_table
from memflow.rendering.tables import table
from tests.memflow.cli.conftest import printed_parts

LONG = "membench_memory_2_4_30@a_long_model_name"
WIDTHS = pytest.mark.parametrize("width", [60, 80, 100, 140])


def assert_complete(text: str, columns: list[str], rows: list[list[str]]) -> None:
    """Fail unless every word of every column and cell is printed, and no value is cut."""
    words = {*text.split()}
    assert "…" not in text
    assert {word for row in (columns, *rows) for cell in row for word in cell.split()} <= words


@WIDTHS
def test_table_repeats_names_and_shows_every_column_at_any_width(width: int) -> None:
    columns = ["metric", "assistant", *(f"metric\nnumber_{at}" for at in range(9)), "reason"]
    rows = [
        [
            "accuracy",
            name,
            *(f"0.{at}2{row} [0.1{at}0 0.9{at}0]" for at in range(9)),
            "a reason in words " * 3,
        ]
        for row, name in enumerate(("none", "oracle", "bm25_message"))
    ]
    text = printed_parts([table(columns, rows)], width)
    assert_complete(text, columns, rows)
    blocks = text.split("\n\n")
    assert all("assistant" in block and "bm25_message" in block for block in blocks)
    assert len(blocks) > 1


@WIDTHS
def test_long_names_wrap_between_words_first_and_numbers_stay_whole(width: int) -> None:
    rows = [["a metric of some length", LONG, f"0.{at}23 [0.100 0.150]", f"1.{at}00"] for at in range(2)]
    columns = ["metric", "assistant", "first", "second"]
    text = printed_parts([table(columns, rows)], width)
    assert {"0.023", "0.123", "1.000", "1.100"} <= {*text.split()} and text.count("23 [0.100 0.150]") == 2
    assert text.count(LONG) >= 2 * (width > 60)


def test_table_wraps_a_name_wider_than_the_terminal() -> None:
    text = printed_parts([table(["assistant", "n"], [[LONG * 2, 1]])], 60)
    assert "".join(text.replace("1", "").split()).removeprefix("assistantn") == LONG.replace("1", "") * 2


@WIDTHS
def test_table_shows_escape_sequences_and_direction_marks_as_symbols(width: int) -> None:
    rows = [["\x1b[31mred\x1b[0m", "a\x07b", "\u202ecba", 1.0], ["plain", "text", "here", 2.0]]
    text = printed_parts([table(["name", "te\x1bxt", "more", "n"], rows, "\x1btitle")], width)
    assert not {"\x1b", "\x07", "\u202e"} & {*text}
    assert "␛[31mred␛[0m" in text and "a␇b" in text and "<U+202E>cba" in text


@WIDTHS
def test_leaderboard_table_shows_the_full_assistant_name(width: int) -> None:
    metrics = ("accuracy", "write_failure", "read_failure", "utilization_failure", "forgetting", "unparsed")
    scores = [factories.score(assistant=LONG, metric=metric, low=0.1, high=0.9) for metric in metrics]
    text = printed_parts([leaderboard_table(scores)], width)
    assert LONG in text
    assert {word for metric in metrics for word in metric.split("_")} <= {*text.split()}


def test_wide_table_lists_a_value_shared_by_all_rows_below_it() -> None:
    rows = [[LONG, "1" * 20, "2" * 20, "3" * 20, ""], ["full", "1" * 20, "2" * 19, "3" * 20, ""]]
    columns = ["memory", "first", "second", "third", "reason"]
    text = printed_parts([table(columns, rows)], 90)
    assert f"In every row: first {'1' * 20}, third {'3' * 20}." in text
    assert "2" * 20 in text and "3" * 20 in text and "reason" not in text
