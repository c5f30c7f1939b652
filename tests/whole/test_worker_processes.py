"""Steps in several processes: the tables of one process, and no process left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from stub import count_answers, stub_process

from memflow.pipeline import partition_key, steps_of
from resources.data.library import CHECKSUMS, Library
from resources.lake.lake import Lake
from resources.ledger.sql_ledger import SqlLedger
from resources.models.models import Models
from resources.settings.settings import load
from resources.steps import StepRunner

DOMAINS = ("amemgym_demo", "amemgym_five", "membench_demo", "comem_demo", "memorybench_demo")
ASSISTANTS = ("none", "oracle", "rag_2_4_30")
OWN = {
    "amemgym_five": {
        "benchmark": "amemgym",
        "datasets": ["personas_en"],
        "parameters": {"users": 5, "periods": 3, "questions": 3},
    }
}

pytestmark = pytest.mark.pipeline


def run_steps(home: Path, processes: int) -> None:
    """Run all steps of the domains and assistants, without Dagster."""
    home.mkdir()
    settings = load(over={"home": home, "processes": processes, "own_domains": OWN})
    lake, library = Lake(settings.lake_root), Library(None, settings.datasets, home / CHECKSUMS)
    with closing(Models(settings, SqlLedger(settings.ledger_url))) as models:
        runner = StepRunner(settings, lake, library, models)

        def run(scope: Any, key: str, **partition: Any) -> None:
            for step in steps_of(scope):
                for table, rows in runner.run(step, key, **partition).items():
                    lake.write(table, key, rows, fingerprint="")
            models.end_run(key)

        for name in DOMAINS:
            domain = settings.domain(name)
            for dataset in domain.datasets:
                run("dataset", dataset, dataset=dataset)
            run("domain", name, domain=domain)
            for assistant in ASSISTANTS:
                key = partition_key(name, assistant)
                run("domain x assistant", key, domain=domain, assistant=assistant, asks_early=True)


@pytest.fixture(scope="module")
def one_process(tmp_path_factory: pytest.TempPathFactory, contents) -> dict[str, str]:
    """Return the contents of the lake after a run in one process."""
    home = tmp_path_factory.mktemp("one") / "home"
    run_steps(home, 1)
    return contents(home)


@pytest.mark.parametrize("processes", [2, 3])
def test_worker_processes_return_the_rows_of_one_process_in_every_benchmark(
    processes: int, one_process, tmp_path: Path, contents
) -> None:
    run_steps(tmp_path / "home", processes)
    assert contents(tmp_path / "home") == one_process


def children(pid: int) -> list[int]:
    shown = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=True
    )
    return [int(line) for line in shown.stdout.split()]


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def command(
    tmp_path: Path, published_users: Callable[..., Path], own_environment: dict[str, str]
) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Yield a running `memflow run` whose two workers have stored some answers, and its home."""
    data, log = published_users(tmp_path / "data", users=4), tmp_path / "answers.jsonl"
    order = ["run", "--domain", "amemgym_base", "--memory", "rag_2_4_30", "--no-bounds", "--processes", "2"]
    order += ["--embedder", "hashing"]
    with stub_process(latency=0.3, log=log) as url:
        process = subprocess.Popen(
            [sys.executable, "-m", "memflow.cli", "--home", "home", *order, "--url", url, "--model", "stub"],
            env={**own_environment, "MEMFLOW_DATA": str(data)},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not (log.exists() and log.read_text().count("\n") > 10):
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        yield process, log
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_end_within_seconds_with_the_command(number: signal.Signals, command) -> None:
    process, _ = command
    workers = children(process.pid)
    assert len(workers) == 2
    process.send_signal(number)
    process.communicate(timeout=20)
    until = time.monotonic() + 10
    while any(map(runs, workers)):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_killed_worker_fails_its_partition_with_a_message_and_no_traceback(command) -> None:
    process, log = command
    os.kill(children(process.pid)[0], signal.SIGKILL)
    _, shown = process.communicate(timeout=120)
    assert process.returncode == 1
    shown = " ".join(shown.split())
    assert shown.count("failed ") == 1 and "was killed by signal 9. Rerun: answered requests" in shown
    assert "Traceback" not in shown
    sent = count_answers(log)
    assert sum(sent.values()) - len(sent) == 0, "the other worker ends its share"
