"""The leaderboard from changed domains and stored rows: equal to one that is computed from scratch."""

from dataclasses import replace
from pathlib import Path

import duckdb
import measured_lake
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from measured_lake import ASSISTANTS, DOMAINS, remove_assistant, write_assistant, write_health, write_probes
from profiles import examples

from memflow.records import Score
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.leaderboard import leaderboard
from memflow.resources.publishing.warehouse import Warehouse


class Home:
    """A home folder whose leaderboard is published again and again."""

    def __init__(self, folder: Path) -> None:
        self.settings = measured_lake.settings_of(folder)
        self.code = "1"

    @property
    def lake(self) -> Lake:
        """The lake, as another process opens it: nothing is cached in memory."""
        return Lake(self.settings.lake_root)

    def published(self) -> list[Score]:
        """Return the rows of which unchanged domains are stored ones, after writing them to the lake."""
        lake, home = self.lake, Path(self.settings.home)
        warehouse = Warehouse(lake, home / "memflow.duckdb")
        rows, meta = leaderboard(self.settings, lake, warehouse, lambda name: self.code)
        # What a publication adds to the rows is no part of them.
        ranked = [replace(row, rank_low=1, noise=0.5) for row in rows]
        lake.write("score.leaderboard", "all", ranked, fingerprint="", meta=meta)
        return [*rows]

    def scratch(self) -> list[Score]:
        """Return the rows that are computed without stored rows."""
        lake = self.lake
        return [*leaderboard(self.settings, lake, Warehouse(lake, "unused.duckdb")).rows]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return a home in which every assistant was measured in every domain."""
    found = Home(tmp_path)
    for domain in DOMAINS:
        write_probes(found.lake, domain)
        for assistant in ASSISTANTS:
            write_assistant(found.lake, domain, assistant, 0)
    return found


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(DOMAINS),
        st.sampled_from(ASSISTANTS),
        st.sampled_from(["write", "remove", "probes", "faulty", "ok"]),
    ),
    max_size=3,
)


@settings(examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rounds=st.lists(CHANGES, min_size=2, max_size=3), seed=st.integers(0, 3))
def test_leaderboard_and_database_equal_full_recomputation_after_any_changes(
    rounds: list[list[tuple[str, str, str]]], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = Home(tmp_path_factory.mktemp("home"))
    for domain in DOMAINS:
        write_probes(home.lake, domain)
        for assistant in ASSISTANTS[:2]:
            write_assistant(home.lake, domain, assistant, seed)
    path = Path(home.settings.home) / "memflow.duckdb"
    for number, changes in enumerate(rounds):
        for domain, assistant, change in changes:
            if change == "write":
                write_assistant(home.lake, domain, assistant, seed + number)
            elif change == "remove":
                remove_assistant(home.lake, domain, assistant)
            elif change in ("faulty", "ok"):
                write_health(home.lake, domain, assistant, change)
            else:
                write_probes(home.lake, domain, seed + number)
        assert home.published() == home.scratch()
        Warehouse(home.lake, path).publish()
        other = tmp_path_factory.mktemp("other") / "memflow.duckdb"
        Warehouse(home.lake, other).publish()
        assert contents(path) == contents(other)


@pytest.mark.parametrize("domain", DOMAINS)
def test_scores_of_others_are_those_without_the_faulty_assistant(home: Home, domain: str) -> None:
    write_health(home.lake, domain, "full", "faulty")
    found = [each for each in home.published() if each.domain == domain]
    remove_assistant(home.lake, domain, "full")
    without = [replace(each, differing_settings=None) for each in home.scratch() if each.domain == domain]
    others = [replace(each, differing_settings=None) for each in found if each.assistant != "full"]
    assert others == without
    withheld = [each for each in found if each.assistant == "full"]
    assert withheld and all(each.reason == "not measured: it is faulty" for each in withheld)
    assert {each.value for each in withheld} == {None}


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of the tables of a published file, in the order of all columns."""
    with duckdb.connect(path, read_only=True) as connection:
        tables = (
            "score.verdicts",
            "score.attributions",
            "score.claims",
            "score.leaderboard",
            "answer.replies",
        )
        return {table: connection.execute(f"FROM {table} ORDER BY ALL").fetchall() for table in tables}


def test_verdicts_of_unchanged_assistants_are_not_read(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.published()
    write_assistant(home.lake, "comem_demo", "full", 1)
    read: set[tuple[str, str]] = set()
    monkeypatch.setattr(
        Lake,
        "read",
        lambda lake, table, name, _=Lake.read, **more: (
            read.add((table, name)) or _(lake, table, name, **more)
        ),
    )
    home.published()
    verdicts = {name for table, name in read if table == "score.verdicts"}
    assert verdicts == {"comem_demo/full", "comem_demo/none", "comem_demo/oracle"}
    read.clear()
    home.published()
    assert {table for table, _ in read} == {"score.leaderboard"}


def test_measured_times_are_computed_again_although_the_content_hash_is_equal(home: Home) -> None:
    lake, partition = home.lake, "comem_demo/full"
    before = home.published()
    facts = lake.facts("answer.replies", partition)
    slower = [replace(row, own_s=(row.own_s or 0) + 1) for row in lake.read("answer.replies", partition)]
    written = lake.write("answer.replies", partition, slower, fingerprint="", meta=facts.meta)
    after = home.published()
    assert written.digest == facts.digest
    assert after != before and after == home.scratch()


def test_changed_metric_code_makes_all_scores_recomputed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.published()
    home.code = "2"
    monkeypatch.setattr("memflow.resources.publishing.domain_scores.own_scores", lambda *_: [])
    assert home.published() == []
