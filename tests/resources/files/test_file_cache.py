"""The cache keyed by file state: it never returns an outdated value, even if the file or the cache is damaged."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memflow.benchmarks.datasets import Dataset
from memflow.resources.data.library import Library
from memflow.resources.files.file_cache import FileCache, FileState
from memflow.resources.lake.columns import facts_cache_name
from memflow.resources.lake.lake import Lake

OLD_NS = time.time_ns() - 3600 * 10**9


def age(path: Path, seconds: int = 0) -> None:
    """Set the modification time to one hour ago plus `seconds`."""
    os.utime(path, ns=(OLD_NS + seconds * 10**9, OLD_NS + seconds * 10**9))


def state(path: Path) -> FileState | None:
    return FileState.of(path.stat())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.txt"
    path.write_text("one")
    age(path)
    return path


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "values-1"


@pytest.mark.parametrize("seconds_ago", [0, -3600])
def test_file_cache_stores_no_value_for_a_recently_modified_or_future_file(file, stored, seconds_ago) -> None:
    os.utime(file, (time.time() - seconds_ago,) * 2)
    cache = FileCache(stored)
    cache.put(str(file), state(file), "one")
    assert cache.get(str(file), state(file)) is FileCache(stored).get(str(file), state(file)) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: b"",
        lambda text: b"\x00\xff" * 1000,
        lambda text: text[: len(text) // 2],
    ],
)
def test_damaged_cache_file_is_ignored_and_rewritten(file, stored, damage) -> None:
    FileCache(stored).put(str(file), state(file), "one")
    stored.write_bytes(damage(stored.read_bytes()))
    assert FileCache(stored).get(str(file), state(file)) is None
    FileCache(stored).put(str(file), state(file), "one")
    assert FileCache(stored).get(str(file), state(file)) == "one"


def test_file_cache_keeps_values_in_memory_if_its_folder_is_not_writable(file, tmp_path) -> None:
    (tmp_path / "cache").write_text("a file where the folder belongs")
    cache = FileCache(tmp_path / "cache" / "values-1")
    cache.put(str(file), state(file), "one")
    assert cache.get(str(file), state(file)) == "one"
    assert FileCache(tmp_path / "cache" / "values-1").get(str(file), state(file)) is None


def test_cached_values_remain_valid_in_a_moved_folder(tmp_path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    file = home / "a\tb\n é"
    file.write_text("x")
    age(file)
    FileCache(home / "values-1", home).put(str(file), state(file), "x")
    moved = home.rename(tmp_path / "moved")
    file = moved / file.name
    assert FileCache(moved / "values-1", moved).get(str(file), state(file)) == "x"


def test_concurrent_processes_lose_no_value_of_the_file_cache(tmp_path, stored) -> None:
    files = [tmp_path / f"file{number}" for number in range(60)]
    for path in files:
        path.write_text(path.name)
        age(path)
    program = (
        "import sys; from pathlib import Path; from memflow.resources.files.file_cache import FileCache, FileState\n"
        "cache = FileCache(sys.argv[1])\n"
        "for name in sys.argv[2:]:\n"
        "    cache.put(name, FileState.of(Path(name).stat()), Path(name).name * 100)\n"
    )
    names = [str(path) for path in files]
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(stored), *names[at::3]]) for at in range(3)
    ]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    cache = FileCache(stored)
    assert [cache.get(str(path), state(path)) for path in files] == [path.name * 100 for path in files]


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["write", "rename", "truncate", "touch", "back", "reopen", "damage", "read"]),
        st.sampled_from(["aa", "bb", "ccc"]),
        st.integers(0, 2),
    ),
    max_size=25,
)


@given(changes=CHANGES)
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_cached_value_equals_the_file_content_after_random_changes(tmp_path, changes) -> None:
    """A case ends early if the same file state occurs with different content."""
    folder = tmp_path / "case"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    file, stored = folder / "file", folder / "values-1"
    file.write_text("aa")
    age(file)
    cache = FileCache(stored, folder)
    contents = {state(file): "aa"}
    for clock, (what, text, second) in enumerate(changes, 1):
        if what in ("write", "rename", "truncate"):
            written = folder / "beside" if what == "rename" else file
            written.write_text("" if what == "truncate" else text)
            # A clock that stands still only for files that are renamed, whose inodes differ.
            age(written, second if what == "rename" else 10 + clock)
            written.replace(file)
        elif what == "touch":
            age(file, 1000 + clock)
        elif what == "reopen":
            cache = FileCache(stored, folder)
        elif what == "damage" and stored.exists():
            stored.write_bytes(stored.read_bytes()[: -7 * (second + 1)])
        now = state(file)
        if contents.setdefault(now, file.read_text()) != file.read_text():
            return  # an inode was used again: nothing that looks at states can notice that
        found = cache.get(str(file), now)
        assert found in (None, file.read_text())
        cache.put(str(file), now, file.read_text())
        assert cache.get(str(file), now) == file.read_text()


@pytest.fixture
def lake(tmp_path) -> Lake:
    lake = Lake(tmp_path / "lake")
    lake.write("question.keys", "d", [], fingerprint="r1", meta={"run": "é"})
    age(Path(lake.path("question.keys", "d")))
    return lake


def test_lake_reads_the_facts_of_an_unchanged_partition_file_once(lake, monkeypatch) -> None:
    first = lake.facts("question.keys", "d")
    monkeypatch.setattr(
        "memflow.resources.lake.partition_files.verify_rows",
        lambda *_: pytest.fail("the file was read again"),
    )
    assert lake.facts("question.keys", "d") == first == Lake(lake.root).facts("question.keys", "d")
    assert lake.facts("question.keys", "other") is None


def test_lake_rereads_partition_metadata_if_an_older_file_replaces_the_partition(lake) -> None:
    path = Path(lake.path("question.keys", "d"))
    other = Lake(path.parents[2] / "other")
    other.write("question.keys", "d", [], fingerprint="r3", meta={"run": "é"})
    lake.facts("question.keys", "d")
    copy = Path(other.path("question.keys", "d"))
    age(copy, 3)
    shutil.copy2(copy, path)
    assert lake.facts("question.keys", "d").fingerprint == "r3"


def test_lake_facts_of_a_read_only_lake_are_not_cached_on_disk(lake, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr("sqlite3.connect", refuse)
    assert Lake(lake.root).facts("question.keys", "d").fingerprint == "r1"
    assert not (Path(lake.root) / ".cache" / facts_cache_name()).exists()


def test_library_caches_checksums_on_disk_until_the_file_changes(tmp_path, monkeypatch) -> None:
    (tmp_path / "a.json").write_text("{}")
    age(tmp_path / "a.json")
    known = {"a": Dataset("a", "A", "amemgym", ("a.json",), "MIT", "here", "Download it.")}
    cache = tmp_path / "cache" / "checksums-1"
    sums = Library(tmp_path, known, cache).sums("a")
    with monkeypatch.context() as patched:
        patched.setattr("hashlib.file_digest", lambda *_: pytest.fail("the file was read again"))
        assert Library(tmp_path, known, cache).sums("a") == sums
    (tmp_path / "a.json").write_text("[]")
    age(tmp_path / "a.json", 5)
    assert Library(tmp_path, known, cache).sums("a") != sums
