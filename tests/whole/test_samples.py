"""Samples (`DOMAIN~N`): partitions of their own, which share rows and requests with the whole domain."""

import sqlite3
from collections.abc import Callable, Collection
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from memflow.operations.planned_runs import Outcome
from memflow.pipeline import tables_of
from memflow.records import MEASURED, HealthMeasure, Score
from memflow.resources.lake.lake import Lake

RunIn = Callable[..., Outcome]
ASSISTANTS = ("none", "awi")
SHARED_MEMORY = frozenset({"memory", "answer"})
"""The stages of MemoryBench whose requests depend on all training cases: they are written into one memory, which every
test case reads. The actions of its users are also drawn from the distribution of satisfaction over all cases."""
ALL_UNITS = {"amemgym_demo": 10, "memorybench_demo": 1_000, "membench_demo": 1_000}
"""Limits that no domain exceeds."""
HEALTH = "score.health"
"""The table whose rows count over all episodes of a partition, so that those of a sample differ by design."""


def requests(home: Path, domain: str, without: Collection[str] = ()) -> set[str]:
    """Return the digests of the requests of a domain, except those of some stages."""
    with sqlite3.connect(home / "ledger.sqlite") as connection:
        rows = connection.execute("select stage, digest from uses where domain = ?", (domain,)).fetchall()
    return {digest for stage, digest in rows if stage not in without}


def rows(home: Path, domain: str, table: str, assistant: str = "") -> list[Any]:
    """Return the rows of a partition without the domain and without measured columns."""
    stored = Lake(home / "lake").read(table, f"{domain}/{assistant}" if assistant else domain)
    return [
        [getattr(row, field.name) for field in fields(row) if field.name not in {*MEASURED, "domain"}]
        for row in stored
    ]


def measures(home: Path, domain: str, assistant: str) -> list[HealthMeasure]:
    """Return the measures of the health of an assistant's memory, in their order."""
    return Lake(home / "lake").read(HEALTH, f"{domain}/{assistant}")


def assert_sample_of_all_units_equals_the_whole_domain(run_in: RunIn, home: Path, domain: str) -> None:
    """Assert that a sample of all units sends no request and has the scores of the whole domain."""
    limit = ALL_UNITS[domain]
    sample = f"{domain}~{limit}"
    outcome = run_in(home, (domain,), ASSISTANTS, limit=limit)
    assert outcome.failed == [] and sum(row["requests"] for row in outcome.usage) == 0
    assert requests(home, sample) == requests(home, domain)

    def scores(name: str) -> list[Score]:
        found = [replace(row, domain=domain) for row in outcome.scores if row.domain == name]
        return [row for row in found if "time" not in row.metric]

    assert scores(sample) == scores(domain) != []
    assert {row.incomplete for row in scores(sample)} == {None}


@pytest.mark.pipeline
@pytest.mark.parametrize(
    ("domain", "dependent"),
    [
        ("amemgym_demo", ()),
        ("membench_demo", ()),
        ("memorybench_demo", SHARED_MEMORY),
    ],
)
def test_requests_and_rows_of_a_sample_are_among_those_of_the_whole_domain(
    run_in: RunIn, tmp_path: Path, domain: str, dependent: Collection[str]
) -> None:
    home = tmp_path / "home"
    assert run_in(home, (f"{domain}~1", f"{domain}~2", domain), ASSISTANTS).failed == []
    if domain in ALL_UNITS:
        assert_sample_of_all_units_equals_the_whole_domain(run_in, home, domain)
    samples = [requests(home, f"{domain}~{limit}", dependent) for limit in (1, 2)]
    assert samples[0] | samples[1] <= requests(home, domain)
    if dependent:
        return
    assert set() < samples[0] <= samples[1]
    partitions = [(table, "") for table in tables_of("domain")]
    partitions += [(table, name) for table in tables_of("domain x assistant") for name in ASSISTANTS]
    for table, assistant in partitions:
        if table == HEALTH:
            continue
        whole = rows(home, domain, table, assistant)
        assert all(row in whole for row in rows(home, f"{domain}~1", table, assistant)), (table, assistant)
    for assistant in ASSISTANTS:
        of_sample, of_whole = measures(home, f"{domain}~1", assistant), measures(home, domain, assistant)
        assert [row.measure for row in of_sample] == [row.measure for row in of_whole] != []
        for part, all_of in zip(of_sample, of_whole, strict=True):
            assert (part.n <= all_of.n, part.affected <= all_of.affected) == (True, True), (assistant, part)
