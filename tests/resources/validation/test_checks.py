"""Checks of lake partitions, including the tables that the rules refer to."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from valid_rows import DOMAIN, valid_rows

from memflow.errors import BadInput, MissingData
from memflow.resources.lake.lake import Lake
from memflow.resources.validation.checks import Scope, check_partition

SCOPE = Scope(DOMAIN, DOMAIN.benchmark)
OF_ASSISTANT = ("memory", "answer")


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Return a lake of valid rows in which one reply has no verdict."""
    lake, world = Lake(tmp_path / "lake"), valid_rows()
    del world["score.verdicts"][0]
    for table, rows in world.items():
        of_assistant = table.split(".")[0] in OF_ASSISTANT or table in (
            "score.verdicts",
            "score.attributions",
        )
        partition = "all" if table == "score.leaderboard" else "d/full" if of_assistant else "d"
        lake.write(table, partition, rows, fingerprint="")
    return lake


def test_check_partition_reads_the_tables_that_rules_refer_to(lake: Lake) -> None:
    found = check_partition("score.verdicts", "d/full", lake, SCOPE)
    assert [each.name for each in found if not each.passed] == ["every_reply_has_verdict"]
    assert all(each.passed for each in check_partition("question.probes", "d", lake, SCOPE))
    assert all(each.passed for each in check_partition("score.leaderboard", "all", lake, Scope()))


def test_check_partition_reports_missing_partition_or_unknown_table(lake: Lake) -> None:
    with pytest.raises(MissingData, match="Materialize the asset answer/replies"):
        check_partition("answer.replies", "d/none", lake, SCOPE)
    with pytest.raises(BadInput, match="there is no table 'nothing'"):
        check_partition("nothing", "d", lake, SCOPE)


def test_check_of_foreign_keys_reads_only_columns_of_other_tables(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = lake.read("answer.replies", "d/full")
    lake.write("answer.replies", "d/full", [replace(replies[0], recalled=["none"])], fingerprint="")
    read: list[str] = []
    stream = lake.stream

    def recorded(table: str, *arguments: Any, **options: Any) -> Iterator[Any]:
        read.append(table)
        return stream(table, *arguments, **options)

    monkeypatch.setattr(lake, "stream", recorded)
    found = {each.name: each for each in check_partition("answer.replies", "d/full", lake, SCOPE)}
    assert not found["recalled_entries_in_memory"].passed
    assert found["probe_id_in_probes"].passed
    assert "memory.indexes" not in read
