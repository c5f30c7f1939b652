"""A clock that goes back an hour: times of versions and publications still increase, and no outdated value is read."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from ledger_rows import ACCOUNT, completion, find, request, store
from valid_rows import valid_rows

from memflow.records import PublishedScore
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.past import PastLake
from memflow.resources.ledger import sql_ledger
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.publishing.score_history import publication_time

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_versions_of_a_partition_increase_although_the_clock_goes_back(tmp_path: Path) -> None:
    moments = iter([NOW, NOW - HOUR, NOW - HOUR, NOW - 2 * HOUR])
    lake = Lake(tmp_path / "lake", clock=lambda: next(moments))
    row = valid_rows()["question.probes"][0]
    for number in range(3):
        lake.write(
            "question.probes", "d", [replace(row, question=f"probe {number}")], fingerprint=f"f{number}"
        )
    versions = lake.versions("question.probes", "d")
    times = [version.since for version in versions]
    assert times == sorted(times, reverse=True) and len(set(times)) == 3
    assert times[-1] == NOW and times[0] == NOW + 2 * timedelta.resolution
    assert [row.question for row in PastLake(lake, NOW).read("question.probes", "d")] == ["probe 0"]


def test_publications_increase_although_the_clock_goes_back() -> None:
    row: PublishedScore = valid_rows()["score.history"][0]
    history = [replace(row, published_at=NOW.isoformat(timespec="microseconds"))]
    assert publication_time(history, NOW - HOUR) == "2026-03-01T12:00:00.000001+00:00"
    assert publication_time(history, NOW + HOUR) == "2026-03-01T13:00:00.000000+00:00"
    assert publication_time([], NOW) == "2026-03-01T12:00:00.000000+00:00"


def test_ledger_answers_and_counts_although_the_clock_goes_back(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock: Callable[[], float] = iter([NOW.timestamp(), *[NOW.timestamp() - 3600] * 5]).__next__
    monkeypatch.setattr(sql_ledger.time, "time", clock)
    key = "a" * 32
    with SqlLedger(url) as ledger:
        (first,) = store(ledger, key)
        store(ledger, "b" * 32)
        ledger.record_cache_hit(first, request(key), ACCOUNT)
        assert find(ledger, key) == completion(key=key)
        assert [(row.requests, row.cache_hits) for row in ledger.usage(by=())] == [(2, 1)]
        assert ledger.run_starts([ACCOUNT.run]) == {ACCOUNT.run: NOW.timestamp() - 3600}
