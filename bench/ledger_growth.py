"""Operations on ledgers of 100,000 and of 1,000,000 completions: CPU seconds and memory.

    python -m bench.ledger_growth --folder /var/tmp

Answers have 1 to 4 KB, prompts 3 KB. Operations that must read all rows take at most 1.05 times as long for each row of
the larger ledger; the others take at most twice as long in the larger one. Memory is the highest resident size of a
process that performs only this operation. `--former` also measures the first opening of the smaller ledger as a former
version wrote it, without checksums. The files are deleted at the end.
"""

import asyncio
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from resources.ledger.former_rows import fill_checksums
from resources.ledger.verification import problems

from bench.measure import arguments, report, request_context
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Sampling
from memflow.fingerprint import digest
from resources.files.sqlite_urls import sqlite_url
from resources.ledger.database import open_engine
from resources.ledger.maintenance import groups
from resources.ledger.rows import Record, RecordWriter, compress_messages
from resources.ledger.sql_ledger import SqlLedger

LOOKUPS, BATCH, REQUESTS_PER_RUN = 20_000, 5_000, 10_000
TEXT = "".join(random.Random(0).choices("abcdefghij klmnop qrstuv", k=8000))
SCANS = ("verify", "stats")
"""The operations that read all rows. Usage reads the totals, whose number grows with the number of runs."""
SCAN_BOUND, CONSTANT_BOUND = 1.05, 2.0


def fill(path: Path, rows: int) -> None:
    """Write a ledger with completions of many runs."""
    writer = RecordWriter(open_engine(sqlite_url(path)))
    chance = random.Random(rows)
    for start in range(0, rows, BATCH):
        records = []
        for number in range(start, min(start + BATCH, rows)):
            begin = chance.randrange(4000)
            request = ChatRequest(
                "bench/growth",
                {},
                (ChatMessage("user", f"{number} {TEXT[begin : begin + 3000]}"),),
                Sampling(max_tokens=64),
            )
            text = TEXT[begin : begin + chance.randrange(1000, 4000)]
            completion = Completion(text, "stop", 800, 300, 100, 0.5, key(number))
            account = request_context(
                f"domain {number % 7}", f"memory {number % 11}", f"run {number // REQUESTS_PER_RUN}"
            )
            messages = compress_messages(request)
            records.append(Record(request, account, time.time(), completion, messages=messages))
        writer.write(records)


def key(number: int) -> str:
    """Return the digest of the request with this number."""
    return digest("growth", number)


def open_ledger(url: str, rows: int) -> None:
    """Open and close the ledger."""
    SqlLedger(url).close()


def look_up(url: str, rows: int) -> None:
    """Look up random completions."""
    chance = random.Random(1)
    keys = [key(chance.randrange(rows)) for _ in range(LOOKUPS)]

    async def find() -> int:
        found = 0
        with SqlLedger(url) as ledger:
            for start in range(0, LOOKUPS, 256):
                some = await asyncio.gather(*(ledger.get(each) for each in keys[start : start + 256]))
                found += sum(each is not None for each in some)
        return found

    assert asyncio.run(find()) == LOOKUPS


def verify(url: str, rows: int) -> None:
    """Verify the ledger."""
    with SqlLedger(url) as ledger, ledger.connect(transaction=True) as connection:
        assert problems(connection) == []


def stats(url: str, rows: int) -> None:
    """Return the statistics by model and end."""
    with SqlLedger(url) as ledger, ledger.connect() as connection:
        assert sum(group.requests for group in groups(connection, ("model", "end"))) >= rows


def usage(url: str, rows: int) -> None:
    """Return the usage by stage, role and model."""
    with SqlLedger(url) as ledger:
        assert sum(row.requests for row in ledger.usage()) >= rows


def run_up_to_date(url: str, rows: int) -> None:
    """Run `memflow run --demo` in a home that is up to date and has this ledger."""
    command(url, "run", "--demo", "--limit", "1")


def collect_garbage(url: str, rows: int) -> None:
    """Run `memflow gc` in the home of this ledger."""
    command(url, "gc", "--dry-run")


def command(url: str, *words: str) -> None:
    """Run a command of memflow in the ledger's home."""
    home = Path(url.removeprefix("sqlite:///")).parent
    subprocess.run(
        [sys.executable, "-m", "memflow.cli", "--home", str(home), *words],
        check=True,
        capture_output=True,
        cwd=home,
    )


OPERATIONS: dict[str, Callable[[str, int], None]] = {
    "open": open_ledger,
    "look_up": look_up,
    "usage": usage,
    "stats": stats,
    "verify": verify,
    "run_up_to_date": run_up_to_date,
    "gc": collect_garbage,
}


def measure(name: str, url: str, rows: int) -> tuple[float, float, float]:
    """Return the CPU seconds, wall seconds and MB of an operation in a process of its own."""
    program = "from bench.ledger_growth import measure_here; measure_here({!r}, {!r}, {!r})"
    began = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-c", program.format(name, url, rows)], check=True, capture_output=True, text=True
    )
    cpu, megabytes = json.loads(ended.stdout)
    return cpu, time.perf_counter() - began, megabytes


def measure_here(name: str, url: str, rows: int) -> None:
    """Perform an operation, and print the CPU seconds and MB of this process and its subprocesses."""
    before = cpu_seconds()
    OPERATIONS[name](url, rows)
    used = cpu_seconds() - before
    sizes = [resource.getrusage(each).ru_maxrss for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps([used, max(sizes) / 1024]))


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its ended subprocesses."""
    used = [resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measure_former(path: Path, rows: int) -> None:
    """Remove all checksums, and measure the first opening and the time until all checksums are computed."""
    engine = open_engine(sqlite_url(path))
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE completions SET checksum = NULL, request_checksum = NULL")
        connection.exec_driver_sql("INSERT INTO unchecked_rows VALUES ('completions', '')")
    engine.dispose()
    began = time.perf_counter()
    engine = open_engine(sqlite_url(path))
    opened = time.perf_counter() - began
    cpu = time.process_time()
    began = time.perf_counter()
    fill_checksums(engine, 1e9)
    report(
        {"name": "ledger_growth_former", "value": round(opened, 2), "unit": "s until it is open"},
        rows=rows,
        rest_s=round(time.perf_counter() - began, 1),
        rest_cpu_s=round(time.process_time() - cpu, 1),
    )


def main() -> int:
    """Measure every operation on both ledgers. Return 1 if a bound is missed."""
    options = arguments(folder=tempfile.gettempdir(), small=100_000, large=1_000_000, rounds=1, former=False)
    numbers = (options.small, options.large)
    missed = False
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        urls = []
        for rows in numbers:
            home = Path(folder) / str(rows)
            home.mkdir()
            began = time.process_time()
            fill(home / "ledger.sqlite", rows)
            urls.append(sqlite_url(home / "ledger.sqlite"))
            size = (home / "ledger.sqlite").stat().st_size
            report(
                {
                    "name": "ledger_growth_fill",
                    "value": round(time.process_time() - began, 1),
                    "unit": "CPU s",
                },
                rows=rows,
                gigabytes=round(size / 1e9, 2),
            )
        command(urls[0], "run", "--demo", "--limit", "1")
        homes = [Path(folder) / str(rows) for rows in numbers]
        shutil.copytree(
            homes[0], homes[1], dirs_exist_ok=True, ignore=shutil.ignore_patterns("ledger.sqlite*")
        )
        for name in OPERATIONS:
            results = [
                min(measure(name, url, rows) for _ in range(2))
                for url, rows in zip(urls, numbers, strict=True)
            ]
            growth = results[1][0] / results[0][0]
            scans = name in SCANS
            bound = SCAN_BOUND * numbers[1] / numbers[0] if scans else CONSTANT_BOUND
            missed |= growth > bound
            report(
                {"name": f"ledger_growth_{name}", "value": round(growth, 2), "unit": "x CPU"},
                bound=round(bound, 2),
                cpu_s=[round(each[0], 2) for each in results],
                wall_s=[round(each[1], 2) for each in results],
                megabytes=[round(each[2]) for each in results],
            )
        if options.former:
            measure_former(Path(folder) / str(options.small) / "ledger.sqlite", options.small)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
