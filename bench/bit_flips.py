"""Single-bit flips in every kind of file of a home folder: none may be read silently, and none may end in a traceback.

The demo is run once. For each kind of file, files are copied back, one random bit is flipped, and what reads the files
is read. Each flip has one of these results:

* `same`: what is read equals the original.
* `refused`: an error of memflow's, or an item that is left out and named.
* `rebuilt`: the file is a copy or a cache, and memflow writes it again.
* `silent`: what is read differs from the original, without a message. This must not happen.
* `traceback`: another exception. This must not happen.

    python -m bench.bit_flips [--flips 300] [--kinds lake,versions,index]

The command prints one JSON line per kind. The exit code is 1 if a flip was read silently or ended in a traceback.
"""

import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from bench.measure import arguments, report
from memflow.errors import MemflowError
from memflow.records import TABLES
from resources.data.downloads.record import DownloadRecord, read_records, record_path, write_record
from resources.files.local_files import partition_of
from resources.indexes.file_hashes import index_name
from resources.indexes.lance import LanceIndex
from resources.lake.lake import Lake
from resources.lake.verification import VERIFIED
from resources.publishing.outputs import INDEX_FOLDER, INDEXES, needs_index
from resources.publishing.record import is_intact, read_record
from resources.publishing.score_cache import NAME as SCORES
from resources.publishing.score_cache import DomainCache
from resources.publishing.warehouse import Warehouse
from resources.repair.verification import sqlite_fault
from resources.runs.added_partitions import FILE, add_partitions, with_added_partitions
from resources.settings.settings import Settings, load

FLIPS = 300
GOOD = ("same", "refused", "rebuilt")


class Rebuilt(Exception):
    """The exception of a reader that found a copy or a cache to be damaged, which memflow writes again."""


@dataclass(frozen=True)
class FileKind:
    """A kind of file: which files of a home folder belong to it, and what is read from one of them.

    The reader returns a value that is compared with that of the intact file.
    """

    name: str
    files: Callable[[Path], list[Path]]
    read: Callable[[Path, Path], Any]


def main() -> int:
    """Flip bits in each kind of file, and print the number of each result. Return 1 if one is not good, else 0."""
    options = arguments(flips=str(FLIPS), kinds="", home="")
    names = [name for name in options.kinds.split(",") if name]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(options.home or Path(folder) / "home")
        if not options.home:
            fill(home)
        for kind in KINDS:
            if not names or kind.name in names:
                found = flip_kind(kind, home, int(options.flips))
                bad = sum(number for result, number in found.items() if result not in GOOD)
                wrong += bad
                report({"name": "bit_flips", "kind": kind.name, "value": bad, "unit": "flips"}, **found)
    return int(wrong > 0)


def fill(home: Path) -> None:
    """Run the demo twice, and replace rows in between, so that the lake keeps versions. Write a report and records."""
    command = [sys.executable, "-m", "memflow.cli", "--home", str(home)]
    subprocess.run([*command, "run", "--demo"], check=True, capture_output=True)
    lake = Lake(home / "lake")
    for table in ("score.verdicts", "answer.replies"):
        partition = lake.partitions(table)[0]
        rows, facts = lake.read(table, partition), lake.facts(table, partition)
        if facts is not None:
            lake.write(table, partition, rows[1:], fingerprint="former", meta=facts.meta)
    subprocess.run([*command, "run", "--demo"], check=True, capture_output=True)
    subprocess.run([*command, "report"], check=True, capture_output=True)
    add_partitions(_settings(home), _settings(home), ["amemgym_demo~1"], ["rag_2_4_11", "rag_2_4_12"])
    record_path(home / "data").parent.mkdir(parents=True)
    files = {"locomo10.json": "5" * 64}
    write_record(
        home / "data",
        DownloadRecord("https://example.org/a.zip", "locomo", "CC", "4" * 64, 10, "2026-01-01", True, files),
    )


def flip_kind(kind: FileKind, home: Path, flips: int, seed: int = 0) -> dict[str, int]:
    """Flip one random bit of a random file of a kind, `flips` times. Return the number of each result."""
    chooser = random.Random(f"{seed} {kind.name}")
    files = kind.files(home)
    if not files:
        return {"no file": 1}
    found: Counter[str] = Counter()
    originals: dict[Path, Any] = {}
    for _ in range(flips):
        file = chooser.choice(files)
        intact = file.read_bytes()
        if not intact:
            continue
        if file not in originals:
            originals[file] = kind.read(home, file)
        changed = bytearray(intact)
        bit = chooser.randrange(len(changed) * 8)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            _replace(file, bytes(changed))
            found[_result(kind, home, file, originals[file])] += 1
        finally:
            _replace(file, intact)
    return dict(found)


def _replace(file: Path, content: bytes) -> None:
    """Give a file other content, as a new file: a process verifies each state of a file once."""
    new = file.with_name(f".{file.name}.flipped")
    new.write_bytes(content)
    new.replace(file)
    VERIFIED.clear()


def _result(kind: FileKind, home: Path, file: Path, original: Any) -> str:
    try:
        return "same" if kind.read(home, file) == original else "silent"
    except Rebuilt:
        return "rebuilt"
    except MemflowError as error:
        return "refused" if str(error) and "\n" not in str(error).strip() else "traceback"
    except Exception as error:  # noqa: BLE001  (any exception is a result)
        print(f"{kind.name}: {type(error).__name__}: {error}", file=sys.stderr)
        return "traceback"


def _settings(home: Path) -> Settings:
    return load(None, {"home": home})


def _below(*patterns: str) -> Callable[[Path], list[Path]]:
    return lambda home: sorted(
        path for pattern in patterns for path in home.glob(pattern) if path.is_file() and path.stat().st_size
    )


def _read_partition(home: Path, file: Path) -> Any:
    """Read a partition in each way: rows, columns, metadata, and SQL."""
    table = ".".join(file.relative_to(home / "lake").parts[:2])
    partition = partition_of(file.stem)
    lake = Lake(home / "lake")
    found = Warehouse(lake, home / "unused").sql(f"SELECT count(*) AS n FROM {table}")
    refusals = 0
    values: list[Any] = []
    for look in (
        lambda: lake.read(table, partition),
        lambda: lake.arrow(table, partition),
        lambda: lake.facts(table, partition),
        lambda: list(lake.batches(table, partition)),
    ):
        try:
            values.append(look())
        except MemflowError as error:
            refusals, last = refusals + 1, error
    if refusals == 4 and found.left_out == {table: [partition]}:
        raise last
    return values, list(found), found.left_out


def _read_version(home: Path, file: Path) -> Any:
    """Read every version of a partition, and its rows as of the time of each."""
    stage, name, stem = file.relative_to(home / "lake" / ".versions").parts[:3]
    table, partition = f"{stage}.{name}", partition_of(stem)
    lake = Lake(home / "lake")
    versions = lake.versions(table, partition)
    return [(each, lake.as_of(each.since).read(table, partition)) for each in versions]


def _read_facts(home: Path, file: Path) -> Any:
    """Read the metadata of all partitions, which the cache contains."""
    lake = Lake(home / "lake")
    return [(table, name, lake.facts(table, name)) for table in TABLES for name in lake.partitions(table)]


def _read_index(home: Path, file: Path) -> Any:
    lake, names = Lake(home / "lake"), file.relative_to(home / INDEX_FOLDER).parts
    for partition in lake.partitions(INDEXES):
        domain, _, assistant = partition.partition("/")
        if index_name(domain, assistant) in (names[0].removesuffix(".lance"), file.stem):
            if needs_index(_settings(home), lake, partition):
                raise Rebuilt
            found = LanceIndex(home / INDEX_FOLDER).search(domain, assistant, text="the", k=100)
            return sorted((row["episode_id"], row["entry_id"], row["text"]) for row in found)
    return None


def _read_database(home: Path, file: Path) -> Any:
    """Read all tables of memflow.duckdb as another program does; a changed file is published again by `repair`."""
    is_changed = not is_intact(file, whole=True)
    try:
        with duckdb.connect(file, read_only=True) as connection:
            tables = [table for table in TABLES if table.startswith("score.")]
            values = [sorted(map(str, connection.execute(f"FROM {table}").fetchall())) for table in tables]
    except duckdb.Error:
        values = []
    if is_changed:
        raise Rebuilt
    return values


def _read_published_record(home: Path, file: Path) -> Any:
    record = read_record(home / "memflow.duckdb")
    if record is None:
        raise Rebuilt
    return record


def _read_scores(home: Path, file: Path) -> Any:
    """Read all values of the cache of scores; damaged ones are computed again."""
    if sqlite_fault(file):
        raise Rebuilt
    found = {}
    for domain in ("amemgym_demo", "memorybench_demo"):
        cache = DomainCache(domain, home / SCORES)
        found.update({(domain, *key): (pair[0], cache.get(*key)) for key, pair in cache._found.items()})
    original = _SCORES.setdefault(str(home), found)
    if found.items() < original.items():
        raise Rebuilt
    return found


_SCORES: dict[str, Any] = {}


def _read_lines(home: Path, file: Path) -> Any:
    """Read a cache of files; a damaged line is ignored, and its value computed again."""
    from resources.files.file_cache import FileCache, _parsed

    cache = FileCache(file)
    cache._load()
    found = {key: _parsed(line) for key, line in (cache._lines or {}).items()}
    valid = {key: value for key, value in found.items() if value is not None}
    original = _SCORES.setdefault(str(file), valid)
    if valid.items() < original.items():
        raise Rebuilt
    return valid


def _read_added(home: Path, file: Path) -> Any:
    found = with_added_partitions(_settings(home))
    original = _SCORES.setdefault(str(file), {*found.assistants, *found.domains})
    if {*found.assistants, *found.domains} < original:
        raise Rebuilt
    return [*found.assistants, *found.domains]


def _read_report(home: Path, file: Path) -> Any:
    """Read a report's manifest and the data files that it names; a changed one is written again."""
    from resources.report.folder import ReportFolder

    folder = ReportFolder(home / "report")
    if not folder.former_names:
        raise Rebuilt
    if any(not folder.is_intact(name) for name in folder.former_names):
        raise Rebuilt
    return {name: folder.path(name).read_bytes() for name in folder.former_names}


def _read_downloads(home: Path, file: Path) -> Any:
    return read_records(file.parent.parent)


KINDS = (
    FileKind("lake", _below("lake/[a-z]*/**/*.parquet"), _read_partition),
    FileKind("replaced rows", _below("lake/.versions/**/*.parquet"), _read_version),
    FileKind("cache of metadata", _below("lake/.cache/facts-*"), _read_facts),
    FileKind("search index", _below("lance/**/*"), _read_index),
    FileKind("memflow.duckdb", _below("memflow.duckdb"), _read_database),
    FileKind("record of memflow.duckdb", _below(".cache/published-*.json"), _read_published_record),
    FileKind("cache of scores", _below(SCORES), _read_scores),
    FileKind("caches of files", _below(".cache/code-*", ".cache/checksums-*"), _read_lines),
    FileKind("added partitions", _below(FILE), _read_added),
    FileKind("report", _below("report/manifest.json", "report/data/**/*.js"), _read_report),
    FileKind("record of downloads", _below("data/.memflow/downloads.json"), _read_downloads),
)


if __name__ == "__main__":
    sys.exit(main())
