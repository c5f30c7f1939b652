"""`memflow ledger`: statistics, and forgetting answers."""

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest


@pytest.fixture
def own(measured, tmp_path: Path):
    """Return a copy of the measured home's ledger, which a test may change."""
    folder = tmp_path / "home"
    folder.mkdir()
    shutil.copy(measured.folder / "ledger.sqlite", folder)
    return replace(measured, folder=folder)


def answers(home) -> int:
    return sum(row["answers"] for row in home.json("ledger", "stats")["groups"])


def test_ledger_stats_sums_the_stored_answers_by_group(measured) -> None:
    data = measured.json("ledger", "stats")
    calls = {row["prompt"]: row["calls"] for row in measured.json("show", "usage", "--by", "prompt")["usage"]}
    assert {row["prompt"]: row["answers"] for row in data["groups"]} == calls
    assert {row["end"] for row in data["groups"]} == {"answered"}
    assert data["disk_bytes"] > sum(row["bytes"] for row in data["groups"]) > 0
    assert "MB on disk" in measured("ledger", "stats").stdout


def test_ledger_forget_shows_the_selected_answers_and_asks_for_confirmation(own) -> None:
    before = answers(own)
    refused = own("ledger", "forget", "--prompt", "awi/update", input="n\n")
    assert refused.exit_code == 1 and "would be deleted" in refused.stderr
    assert "amemgym_demo~1/awi" in refused.stderr
    assert answers(own) == before
    deleted = own("ledger", "forget", "--prompt", "awi/update", input="y\n")
    assert deleted.exit_code == 0
    rows = own.json("ledger", "stats")["groups"]
    assert "awi/update" not in {row["prompt"] for row in rows}


def test_ledger_forget_kind_retried_deletes_answers_after_an_unusable_one_only(own) -> None:
    with sqlite3.connect(own.folder / "ledger.sqlite") as connection:
        ((digest, prompt),) = connection.execute("select digest, prompt from completions limit 1").fetchall()
        connection.execute("update completions set attempt = 1 where digest = ?", (digest,))
    condition = ("--kind", "retried", "--prompt", prompt, "--yes")
    assert own("ledger", "forget", *condition).exit_code == 0
    with sqlite3.connect(own.folder / "ledger.sqlite") as connection:
        left = connection.execute("select count(*), max(attempt) from completions").fetchone()
        assert left[0] > 0 and left[1] == 0
    assert "no answer in the ledger meets" in own.error("ledger", "forget", *condition)


def test_ledger_forget_without_condition_or_match_deletes_nothing(own) -> None:
    before = answers(own)
    assert "no condition is given" in own.error("ledger", "forget", "--yes")
    assert "no answer in the ledger meets" in own.error("ledger", "forget", "--model", "nobody", "--yes")
    assert answers(own) == before


def test_ledger_stats_names_a_missing_ledger_and_does_not_create_it(empty) -> None:
    assert "there is no ledger at" in empty.error("ledger", "stats")
    assert not empty.folder.exists()
