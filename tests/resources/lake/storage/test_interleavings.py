"""Random interleavings of the requests of writers, readers and `memflow doctor --clean` on several hosts."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scheduled_store import ScheduledStore
from valid_rows import valid_rows

from memflow.errors import MissingData
from memflow.resources.lake.garbage_collection import collect, collectable
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.past import PastLake
from memflow.resources.lake.snapshots import snapshot_of
from memflow.resources.lake.storage.object_cache import ObjectCache
from memflow.resources.lake.storage.object_store import ObjectStorage

TABLE = "score.verdicts"
ROW = valid_rows()[TABLE][0]
PARTITIONS = ("d/a", "d/b")
SEEDS, LONGEST = st.integers(0, 10**9), st.sampled_from([1, 3, 12, 40])


@pytest.fixture(autouse=True)
def _without_threads_and_pauses(monkeypatch):
    monkeypatch.setattr(
        "memflow.resources.lake.storage.object_store.in_threads",
        lambda call, items: [call(item) for item in items],
    )
    monkeypatch.setattr("memflow.resources.lake.lake.time.sleep", lambda seconds: None)


class Hosts:
    """Hosts with one lake, each with a cache of its own, and what they wrote and read."""

    def __init__(self, folder):
        self.store = ScheduledStore()
        self.folder = folder
        self.hosts = 0
        self.begun: dict[str, set[str]] = {name: set() for name in PARTITIONS}
        """The rows that writers began to write, by partition."""
        self.removed = 0

    def lake(self):
        """Return the lake as a new host sees it."""
        self.hosts += 1
        return Lake(ObjectStorage(self.store, ObjectCache(self.folder / str(self.hosts))), self.store.now)

    def writer(self, name, partition, times):
        lake = self.lake()

        def write():
            for number in range(times):
                text = f"{name}{number}"
                self.begun[partition].add(text)
                lake.write(TABLE, partition, [replace(ROW, probe_id=text)] * 2, fingerprint=text)

        return write

    def reader(self, times):
        lake = self.lake()

        def read():
            for _ in range(times):
                for partition in PARTITIONS:
                    seen = value(lake, partition)
                    assert seen is None or seen in self.begun[partition]

        return read

    def collector(self, times):
        lake = self.lake()

        def remove():
            for _ in range(times):
                self.removed += len(collect(lake, collectable(lake, self.store.now() + timedelta(days=1), 0)))

        return remove

    def counter(self, times):
        lake = self.lake()

        def count():
            for _ in range(times):
                lake.update(TABLE, "count", lambda rows: [*rows, ROW], fingerprint="")

        return count


def value(lake, partition):
    """Return the text that both rows of a partition have; None if it is missing."""
    try:
        rows = lake.read(TABLE, partition)
    except MissingData:
        return None
    assert len(rows) == 2 and rows[0] == rows[1]
    return rows[0].probe_id


@given(seed=SEEDS, longest=LONGEST)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_interleaving_loses_a_write_or_shows_rows_that_nobody_wrote(tmp_path_factory, seed, longest):
    hosts = Hosts(tmp_path_factory.mktemp("hosts"))
    actors = [
        hosts.writer("x", "d/a", 2),
        hosts.writer("y", "d/a", 2),
        hosts.writer("z", "d/b", 2),
        hosts.counter(2),
        hosts.counter(2),
        hosts.reader(2),
        hosts.collector(2),
    ]
    hosts.store.run(actors, Random(seed), longest)
    lake = hosts.lake()
    for partition, begun in hosts.begun.items():
        versions = lake.versions(TABLE, partition)
        assert sorted(each.facts.fingerprint for each in versions) == sorted(begun)
        assert value(lake, partition) == versions[0].facts.fingerprint
        assert all(after.since > before.since for after, before in pairwise(versions))
        for version in versions[:2]:  # the current rows, and those before them, are never removed
            assert value(PastLake(lake, version.since), partition) == version.facts.fingerprint
    assert len(lake.read(TABLE, "count")) == 4


@given(seed=SEEDS, longest=LONGEST)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_snapshot_is_the_state_of_one_moment(tmp_path_factory, seed, longest):
    """One host writes round after round into several partitions, so a state of the lake has at most two rounds."""
    hosts = Hosts(tmp_path_factory.mktemp("hosts"))
    names, seen = ("d/1", "d/2", "d/3"), []
    writing, reading = hosts.lake(), hosts.lake()

    def write():
        for number in range(4):
            for name in names:
                writing.write(TABLE, name, [replace(ROW, probe_id=str(number))] * 2, fingerprint="")

    def read():
        for _ in range(3):
            with snapshot_of(reading, [TABLE]) as still:
                found = [value(still, name) for name in names]
                seen.append([-1 if each is None else int(each) for each in found])

    hosts.store.run([write, read], Random(seed), longest)
    for rounds in seen:
        assert rounds == sorted(rounds, reverse=True) and rounds[0] - rounds[-1] <= 1, seen


def test_rows_are_removed_during_writes(tmp_path):
    hosts = Hosts(tmp_path)
    hosts.store.run([hosts.writer("x", "d/a", 12), hosts.collector(6)], Random(1), 12)
    assert hosts.removed > 0
