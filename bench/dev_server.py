"""A real `memflow dev` on small users and a stub server, for bench/soak.py and tests/daemon/: started, used, killed."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg

from bench.homes import content_hashes, stub_settings
from bench.player import draw_user
from memflow.resources.lake.lake import Lake
from memflow.resources.process import default_signals

ROOT = Path(__file__).parents[1]
LOCATION = {"repositoryName": "__repository__", "repositoryLocationName": "memflow"}
LOADED = (
    "{ workspaceOrError { ... on Workspace { locationEntries { locationOrLoadError { __typename } } } } }"
)
LAUNCH = """mutation($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
    __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
DOMAIN = "amemgym_base"
SETTINGS = """home = {home}
data = {data}
domains = ["{domain}"]
assistants = {assistants}
"""


@dataclass
class DevHome:
    """A home with settings, and the `memflow dev` that runs on it."""

    folder: Path
    url: str
    assistants: Sequence[str]
    users: int = 2
    periods: int = 4
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    port: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        data = self.folder / "data/amemgym/v1.base/data.json"
        data.parent.mkdir(parents=True)
        drawn = [draw_user(number) for number in range(self.users)]
        data.write_text(json.dumps([{**user, "periods": user["periods"][: self.periods]} for user in drawn]))
        self.settings.write_text(
            SETTINGS.format(
                home=json.dumps(str(self.home)),
                data=json.dumps(str(self.folder / "data")),
                domain=DOMAIN,
                assistants=json.dumps(list(self.assistants)),
            )
            + stub_settings(self.url, concurrency=16)
        )

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def instance_folder(self) -> Path:
        return self.home / "dagster"

    @property
    def settings(self) -> Path:
        return self.folder / "memflow.toml"

    @property
    def log(self) -> Path:
        """The output of all `memflow dev` of this home."""
        return self.folder / "dev.log"

    def command(self, *arguments: str) -> list[str]:
        """Return a command line of memflow on this home."""
        return [sys.executable, "-m", "memflow.cli", "--settings", str(self.settings), *arguments]

    def run(self, *assistants: str) -> None:
        """Materialize the domain and the assistants with `memflow run`."""
        chosen = [part for name in assistants for part in ("--memory", name)]
        ended = subprocess.run(
            self.command("run", "--domain", DOMAIN, *chosen, "--no-baselines"),
            env=environment(),
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
        )
        if ended.returncode:
            raise RuntimeError(f"`memflow run` failed:\n{ended.stdout[-2000:]}{ended.stderr[-4000:]}")

    def start(self, patience: float = 240) -> float:
        """Start `memflow dev`, and wait until its UI shows the code location. Return the seconds."""
        began = time.monotonic()
        self.launch()
        await_true("memflow dev to answer", self._is_loaded, patience)
        return time.monotonic() - began

    def launch(self) -> None:
        """Start `memflow dev`."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command("dev", f"--port={self.port}"),
                env=environment(),
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=default_signals(),  # noqa: PLW1509
            )

    def stop(self) -> float:
        """End `memflow dev` as Ctrl-C does. Return the seconds."""
        if self.process is None:
            return 0.0
        began = time.monotonic()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(60)
        seconds = time.monotonic() - began
        self.kill_group()
        return seconds

    def kill_group(self) -> None:
        """Kill the process group of `memflow dev`, and wait until all that it started has ended, too."""
        if self.process is not None:
            started = descendants(self.process.pid)
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            await_true("the programs to end", lambda: not any(map(command_line, started)), 30, 0.05)
            self.process = None

    def kill(self, what: str) -> bool:
        """Kill the group, or one code server or worker. Return False if there was no such process."""
        if what == "group":
            self.kill_group()
            return True
        pids = {"code server": self.code_servers, "worker": self.workers}[what]()
        for pid in pids[:1]:
            os.kill(pid, signal.SIGKILL)
        if pids and what == "code server" and self.process is not None:
            self.process.wait(60)  # `memflow dev` ends with it
            self.process = None
        return bool(pids)

    def workers(self) -> list[int]:
        """Return the process ids of the runs."""
        started = [pid for server in self.code_servers() for pid in descendants(server)]
        return [pid for pid in started if "spawn_main" in command_line(pid)]

    def code_servers(self) -> list[int]:
        """Return the process ids of the servers with the code, which a proxy starts."""
        started = children(self.process.pid) if self.process is not None else []
        proxies = [pid for pid in started if "code-server" in command_line(pid)]
        return [pid for proxy in proxies for pid in children(proxy) if "grpc" in command_line(pid)]

    def backfill(self, job: str, partitions: Sequence[str]) -> str:
        """Start a backfill of a job. Return its id."""
        selector = {"partitionSetName": f"{job}_partition_set", "repositorySelector": LOCATION}
        params = {"selector": selector, "partitionNames": list(partitions)}
        found = self.ask(LAUNCH, params=params)["launchPartitionBackfill"]
        if found["__typename"] != "LaunchBackfillSuccess":
            raise RuntimeError(f"the backfill did not start: {found}")
        return str(found["backfillId"])

    def ask(self, query: str, **variables: Any) -> Any:
        """Send a GraphQL request to the UI's server. Return its data."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)["data"]

    @contextmanager
    def instance(self) -> Iterator[dg.DagsterInstance]:
        """Open Dagster's instance of the home."""
        with dg.DagsterInstance.from_config(str(self.instance_folder)) as instance:
            yield instance

    def partitions(self, backfill: str) -> dict[str, list[str]]:
        """Return the statuses of the runs of each partition of a backfill, the latest first."""
        found: dict[str, list[str]] = {}
        with self.instance() as instance:
            for run in instance.get_runs(dg.RunsFilter(tags={"dagster/backfill": backfill})):
                found.setdefault(run.tags["dagster/partition"], []).append(run.status.value)
        return found

    def has_ended(self, backfill: str) -> bool:
        """Return whether the backfill and all of its runs have ended."""
        with self.instance() as instance:
            found = instance.get_backfill(backfill)
        runs = [status for statuses in self.partitions(backfill).values() for status in statuses]
        over = found is not None and found.status.value.startswith("COMPLETED")
        return over and set(runs) <= {"SUCCESS", "FAILURE", "CANCELED"}

    def statuses(self) -> dict[str, int]:
        """Return the number of runs by status."""
        with self.instance() as instance:
            return dict(Counter(run.status.value for run in instance.get_runs()))

    def claimed_slots(self) -> int:
        """Return the number of claimed pool slots."""
        with self.instance() as instance:
            log = instance.event_log_storage
            return sum(log.get_concurrency_info(key).active_slot_count for key in log.get_concurrency_keys())

    def runs_in_progress(self) -> int:
        """Return the number of runs that have neither ended nor wait in the queue."""
        with self.instance() as instance:
            return sum(not run.is_finished for run in instance.get_runs())

    def contents(self) -> dict[str, str]:
        """Return the content hash of each partition of the tables that contain no times of this home."""
        return content_hashes(Lake(self.home / "lake"))

    def stored_digests(self) -> set[str]:
        """Return the digests of the completions in the ledger."""
        with sqlite3.connect(self.home / "ledger.sqlite", timeout=60) as connection:
            return {digest for (digest,) in connection.execute("SELECT digest FROM completions")}

    def _is_loaded(self) -> bool:
        if self.process is not None and self.process.poll() is not None:
            raise RuntimeError(f"memflow dev has ended:\n{self.log.read_text()[-4000:]}")
        try:
            entries = self.ask(LOADED)["workspaceOrError"]["locationEntries"]
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False
        return (
            bool(entries)
            and (entries[0]["locationOrLoadError"] or {}).get("__typename") == "RepositoryLocation"
        )


def environment() -> dict[str, str]:
    """Return the environment of a subprocess: this source tree and no personal settings."""
    mine = {
        name: value for name, value in os.environ.items() if not name.startswith(("MEMFLOW_", "DAGSTER_"))
    }
    return {**mine, "PYTHONPATH": str(ROOT)}


def await_true(what: str, holds: Callable[[], bool], patience: float, pause: float = 0.5) -> None:
    """Wait until `holds` returns True. Raises TimeoutError with `what` after `patience` seconds."""
    deadline = time.monotonic() + patience
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {patience:.0f} s for {what}")
        time.sleep(pause)


def children(parent: int) -> list[int]:
    """Return the process ids of the children of a process."""
    with suppress(OSError):
        tasks = Path(f"/proc/{parent}/task").iterdir()
        return [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
    return []


def descendants(parent: int) -> list[int]:
    """Return the process ids of the children of a process, and of theirs."""
    return [pid for child in children(parent) for pid in (child, *descendants(child))]


def command_line(pid: int) -> str:
    """Return the command line of a process."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""
