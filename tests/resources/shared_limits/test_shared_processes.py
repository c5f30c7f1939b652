"""Eight processes with one ledger: a stub server measures that they keep the limits together."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
import uuid
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from stub.process import stub_process

from resources.process import default_signals
from resources.shared_limits.leases import BudgetUse, budget_uses
from resources.shared_limits.rates import MINUTE, PERMIT_S
from resources.shared_limits.store import LimitStore

pytestmark = pytest.mark.kill

PROGRAM = Path(__file__).with_name("limited_clients.py")
PROCESSES = 8


@contextmanager
def clients(
    folder: Path, ledger: str, url: str, limits: str, budget: str, requests: int, at_once: int, seconds: int
) -> Iterator[list[int]]:
    """Start the processes, and yield their ids; wait for them at the end."""
    (folder / "memflow.toml").write_text(
        f'home = "{folder}/home"\nledger = "{ledger}"\n{budget}\n'
        f'[models.m]\nurl = "{url}"\nmodel = "stub"\nconcurrency = 64\n{limits}\n',
        encoding="utf-8",
    )
    numbers = map(str, (PROCESSES, requests, at_once, seconds))
    with subprocess.Popen(
        [sys.executable, str(PROGRAM), str(folder / "memflow.toml"), str(folder), *numbers],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals(),  # noqa: PLW1509  (None unless signals are ignored)
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        children = json.loads(process.stdout.readline())
        process.stdin.write("begin\n")
        process.stdin.flush()
        try:
            yield children
            assert process.wait(90) == 0
        finally:
            if process.poll() is None:
                for child in children:
                    os.kill(child, signal.SIGKILL)
                process.kill()


def counts(url: str) -> dict[str, int]:
    with urllib.request.urlopen(url.replace("/v1", "/stub/counts"), timeout=10) as response:
        found: dict[str, int] = json.load(response)
        return found


def results(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("[0-9].json"))]


def use_of(ledger: str, name: str) -> BudgetUse:
    store = LimitStore(ledger)
    with store.transaction("") as (connection, now):
        (use,) = (use for use in budget_uses(connection, now) if use.name == name)
    store.close()
    return use


def test_budget_and_total_concurrency_hold_over_processes(either_url: str, tmp_path: Path) -> None:
    name = uuid.uuid4().hex
    budget = f'[budget]\nname = "{name}"\ncalls = 1500'
    with stub_process(latency=0.02) as url:
        with clients(tmp_path, either_url, url, "total_concurrency = 12", budget, 10_000, 16, 60):
            pass
        found = counts(url)
    assert found["asked"] == 1500
    assert 8 <= found["most_in_flight"] <= 12
    ended = results(tmp_path)
    assert sum(each["answered"] for each in ended) == 1500
    assert all(each["refused"] == 16 for each in ended)
    assert all(each["answered"] > 20 for each in ended), ended
    use = use_of(either_url, name)
    assert (use.spent.calls, use.leased.calls, use.lost.calls, use.running) == (1500, 0, 0, 0)


def test_killed_processes_exceed_no_limit_and_lose_no_call(either_url: str, tmp_path: Path) -> None:
    name = uuid.uuid4().hex
    budget = f'[budget]\nname = "{name}"\ncalls = 1200'
    with stub_process(latency=0.02) as url:
        with clients(tmp_path, either_url, url, "total_concurrency = 12", budget, 10_000, 16, 8) as children:
            until = time.monotonic() + 60
            for child in children[:3]:
                asked = counts(url)["asked"]
                while counts(url)["asked"] < asked + 100 and time.monotonic() < until:
                    time.sleep(0.05)
                os.kill(child, signal.SIGKILL)
        found = counts(url)
    use = use_of(either_url, name)
    assert 300 <= found["asked"] <= 1200
    assert found["most_in_flight"] <= 12
    counted = use.spent.calls + use.leased.calls + use.lost.calls
    assert found["asked"] <= counted <= 1200
    # What is not known to be spent are the running requests of three processes, and small leases.
    assert counted - use.spent.calls <= 3 * (16 + 64)


def test_requests_per_minute_hold_over_processes(either_url: str, tmp_path: Path) -> None:
    log = tmp_path / "stub.log"
    limit = 3000
    with (
        stub_process(log=str(log)) as url,
        clients(tmp_path, either_url, url, f"requests_per_minute = {limit}", "", 10_000, 16, 6),
    ):
        pass
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    at = sorted(line["at"] for line in lines if line["path"].endswith("/completions"))
    assert len(at) > limit / 60  # more than a second's
    for window in (1.0, 3.0, 6.0):
        most = max(bisect_right(at, each + window) - index for index, each in enumerate(at))
        # A request may be a second late, and the server under load a little later.
        assert most <= (window + PERMIT_S + 0.5) * limit / MINUTE + 1
    assert all(each["answered"] for each in results(tmp_path))
