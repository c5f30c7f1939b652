"""`memflow show health`: the state of each assistant, the measures of one, and names that are unknown."""

from typing import Any

import pytest
from factories import health_measure

EMPTY = "96 of 96 reads were empty although entries were live"


@pytest.fixture
def measured(empty: Any) -> Any:
    """Return a home with a faulty assistant and a healthy one."""
    of_deaf = {"domain": "d", "assistant": "deaf"}
    rows = [
        health_measure(**of_deaf, measure="failed_reads", state="ok", statement="0 of 96 reads failed", n=96),
        health_measure(
            **of_deaf, measure="empty_reads", state="faulty", statement=EMPTY, n=96, affected=96, examples=["p1", "p2"]
        ),
        health_measure(
            **of_deaf, measure="item_cap", state="not measurable", reason="no k", statement="not measurable: no k"
        ),
        health_measure(
            **of_deaf, measure="read_latency", state="ok", statement="96 reads were timed", n=96,
            percentiles_s=[0.01, 0.02, 1.5],
        ),
    ]  # fmt: skip
    empty.write("score.health", "d/deaf", rows)
    good = health_measure(domain="d", assistant="good", measure="failed_reads", state="ok", statement="none")
    empty.write("score.health", "d/good", [good])
    return empty


@pytest.mark.parametrize("width", ["80", "140"])
def test_overview_has_the_state_of_each_assistant_and_details_the_measures_worst_first(
    measured: Any, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    overview, output = measured("show", "health").stdout, measured("show", "health", "d", "deaf").stdout
    assert max(map(len, [*overview.splitlines(), *output.splitlines()])) <= int(width)
    text = " ".join(overview.split())
    assert "deaf faulty 96 of 96 reads were empty" in text and "3 of 4" in text
    assert "good ok none of 1 measures shows a fault" in text
    assert output.index("empty_reads") < output.index("failed_reads") < output.index("item_cap")
    assert "p50 0.01 s" in output and "p1, p2" in output
    assert "nothing is known, which is not ok" in " ".join(output.split())


def test_json_has_the_rows(measured: Any) -> None:
    rows = measured.json("show", "health", "d", "deaf")
    assert [row["measure"] for row in rows] == ["failed_reads", "empty_reads", "item_cap", "read_latency"]
    assert rows[1]["statement"] == EMPTY
    assert {row["assistant"] for row in measured.json("show", "health")} == {"deaf", "good"}


def test_unknown_domain_and_assistant_are_named(measured: Any) -> None:
    assert "e" in measured.error("show", "health", "e") and "d" in measured.error("show", "health", "e")
    assert "bad" in measured.error("show", "health", "d", "bad")


def test_home_without_measures_says_so(empty: Any) -> None:
    assert "No memory's health is measured yet." in empty("show", "health").stdout
