"""A started vLLM server that all processes of one home share: its folder, the lease on it, and its state.

The first process starts a supervisor, which outlives it. Every process holds a lease while it uses the server.
"""

import fcntl
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from memflow.errors import BadSettings, EndpointDown
from memflow.fingerprint import digest
from resources.process import default_signals, log_tail
from resources.vllm_servers.leftovers import end_leftovers
from resources.vllm_servers.supervisor import ALIVE, LEASE, PLAN, STATE, STOP, write_json

POLL_S = 0.1
ENDING_S = 60.0
"""Seconds in which a supervisor that ends its servers must have ended."""
START = "start"
"""The file that a process locks while it decides whether to start the server."""


@dataclass(frozen=True)
class ServerPlan:
    """The replicas of a server: commands and environment variables. `None` in a command stands for the port."""

    model: str
    commands: Sequence[Sequence[str | None]]
    variables: Sequence[Mapping[str, str]]
    idle: float = 60.0
    startup: float = 900.0

    @property
    def key(self) -> str:
        """The name of the server's folder: the model and a digest of what is started."""
        slug = re.sub("[^A-Za-z0-9_.-]+", "_", self.model.rstrip("/").rpartition("/")[2])[:60]
        return f"{slug or 'model'}-{digest(list(map(list, self.commands)), list(map(dict, self.variables)))[:12]}"

    def content(self) -> dict[str, Any]:
        """Return the plan in the form that the supervisor reads."""
        pairs = zip(self.commands, self.variables, strict=True)
        replicas = [{"command": list(command), "variables": dict(values)} for command, values in pairs]
        return {"model": self.model, "idle": self.idle, "startup": self.startup, "replicas": replicas}


@dataclass
class SharedServer:
    """The server of a plan in a home folder. `acquire` starts it if necessary, `release` gives the lease back."""

    home: Path
    plan: ServerPlan
    given_up: threading.Event = field(default_factory=threading.Event, repr=False)
    """Set by another thread to end a wait in `acquire`."""
    _lease: IO[str] | None = field(default=None, init=False, repr=False)
    _supervisor: "subprocess.Popen[bytes] | None" = field(default=None, init=False, repr=False)

    @property
    def folder(self) -> Path:
        """The folder of the server's state and logs. Hosts that share a home have folders of their own."""
        return servers_folder(self.home) / self.plan.key

    @property
    def logs(self) -> list[Path]:
        """The log of each replica."""
        return [self.folder / f"replica_{number}.log" for number, _ in enumerate(self.plan.commands, 1)]

    def acquire(self) -> tuple[str, ...]:
        """Return the base addresses of the replicas, started by this or another process.

        Raises BadSettings if the program cannot be run, and EndpointDown if a replica ends or is not ready in time.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lease = (self.folder / LEASE).open("a")
        except OSError as error:
            raise BadSettings(
                f"cannot write {self.folder} ({error}). Make `home` writable, or choose another folder."
            ) from error
        try:
            _lock(lease, fcntl.LOCK_SH, ENDING_S)  # waits while the server ends
            with self._starting():
                if not self._is_current():
                    self._start()
            state = self._ready()
        except BaseException:
            lease.close()
            raise
        self._lease = lease
        return tuple(
            f"http://127.0.0.1:{each['port']}/v1" for each in state["replicas"] if each["status"] != "lost"
        )

    def release(self) -> None:
        """Give the lease back. With `idle = 0`, wait until the server has ended if nobody else uses it."""
        lease, self._lease = self._lease, None
        if lease is None:
            return
        lease.close()
        until = time.monotonic() + ENDING_S
        while self.plan.idle == 0 and is_supervised(self.folder) and not _is_leased(self.folder):
            if time.monotonic() > until:
                break
            time.sleep(POLL_S)
        if self._supervisor is not None:
            self._supervisor.poll()

    def state(self) -> dict[str, Any]:
        """Return what the supervisor wrote last; empty before the first start."""
        return read_state(self.folder)

    def _is_current(self) -> bool:
        """Return whether a supervisor runs that has not failed. Wait for the end of one that has."""
        until = time.monotonic() + ENDING_S
        while is_supervised(self.folder):
            if self.state().get("status") in ("starting", "ready"):
                return True
            if time.monotonic() > until:
                raise EndpointDown(
                    f"the former vLLM server of {self.plan.model} does not end. End process "
                    f"{self.state().get('pid', '?')}, then rerun."
                )
            time.sleep(POLL_S)
        return False

    def _start(self) -> None:
        end_leftovers(self.state())
        end_unused(self.home, self.plan)
        (self.folder / STATE).unlink(missing_ok=True)
        write_json(self.folder / PLAN, self.plan.content())
        program = Path(__file__).with_name("supervisor.py")
        with (self.folder / "supervisor.log").open("wb") as log:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", str(program), str(self.folder.absolute())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # it outlives this process
                preexec_fn=default_signals(),  # noqa: PLW1509  (None unless signals are ignored)
            )
        until = time.monotonic() + ENDING_S
        while not self.state():
            if self._supervisor.poll() is not None or time.monotonic() > until:
                raise EndpointDown(
                    f"cannot start the supervisor of vLLM for {self.plan.model}. Fix the error in its log, then "
                    f"rerun: {log_tail(self.folder / 'supervisor.log')}"
                )
            time.sleep(0.02)

    def _ready(self) -> dict[str, Any]:
        """Return the state when all replicas are ready or lost, and none restarts.

        Raises BadSettings or EndpointDown if they will not be ready.
        """
        while True:
            ended = not is_supervised(self.folder)  # before the state, which is written before the end
            state = self.state()
            restarts = any(each["status"] == "restarting" for each in state["replicas"])
            if state["status"] == "ready" and not restarts:
                return state
            if state["status"] in ("failed", "ended") or ended:
                raise self.failure(state)
            if self.given_up.wait(POLL_S):
                raise EndpointDown(
                    f"the start of vLLM for {self.plan.model} was given up, since the run ends."
                )

    def failure(self, state: Mapping[str, Any]) -> EndpointDown | BadSettings:
        """Return the error of a server that has ended."""
        reason = state.get("reason") or "was ended"
        if reason.startswith("cannot run "):
            return BadSettings(
                f"{reason}. Set `executable` of the model in memflow.toml to the vllm program of an environment that "
                "has vLLM."
            )
        lost = [each["number"] for each in state.get("replicas", ()) if each["status"] == "lost"]
        log = self.logs[lost[0] - 1 if lost else 0]
        shown = log_tail(log) if log.exists() else str(log)
        return EndpointDown(
            f"vLLM for {self.plan.model} {reason}. Fix the error in its log, then rerun: {shown}"
        )

    @contextmanager
    def _starting(self) -> Iterator[None]:
        with (self.folder / START).open("a") as lock:
            _lock(lock, fcntl.LOCK_EX, 2 * ENDING_S)
            yield


def servers_folder(home: Path) -> Path:
    """Return the folder of the started servers of this host."""
    return home.absolute() / "vllm" / re.sub("[^A-Za-z0-9_.-]+", "_", socket.gethostname() or "host")


def read_state(folder: Path) -> dict[str, Any]:
    """Return the content of a server's state.json; empty without one."""
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def is_supervised(folder: Path) -> bool:
    """Return whether a supervisor runs in a folder."""
    return _is_locked(folder / ALIVE, fcntl.LOCK_SH)


def running_servers(home: Path) -> list[dict[str, Any]]:
    """Return the servers of this host that run: name, status, whether a process uses them, addresses and logs."""
    rows = []
    for state_file in sorted(servers_folder(home).glob(f"*/{STATE}")):
        folder = state_file.parent
        state = read_state(folder)
        if is_supervised(folder):
            replicas = state.get("replicas", [])
            rows.append(
                {
                    "server": folder.name,
                    "status": state.get("status", "starting"),
                    "in use": _is_leased(folder),
                    "addresses": [f"http://127.0.0.1:{each['port']}/v1" for each in replicas],
                    "supervisor": state.get("pid"),
                    "logs": [each["log"] for each in replicas],
                }
            )
    return rows


def end_unused(home: Path, plan: ServerPlan | None = None) -> list[str]:
    """End the servers that no process uses, and return their names. They only wait for the next process.

    With a plan, end only servers of other plans that may use the same devices.
    """
    ending = []
    for state_file in servers_folder(home).glob(f"*/{STATE}"):
        folder = state_file.parent
        if plan is not None and folder.name == plan.key:
            continue
        state = read_state(folder)  # before the check: whoever writes a state is a supervisor by then
        if not is_supervised(folder):
            end_leftovers(state)
        elif not _is_leased(folder) and (plan is None or _shares_devices(folder, plan)):
            (folder / STOP).touch()
            ending.append(folder)
    until = time.monotonic() + ENDING_S
    while any(is_supervised(each) and not _is_leased(each) for each in ending) and time.monotonic() < until:
        time.sleep(POLL_S)
    return [each.name for each in ending if not is_supervised(each)]


def _shares_devices(folder: Path, plan: ServerPlan) -> bool:
    try:
        other = json.loads((folder / PLAN).read_text(encoding="utf-8"))["replicas"]
    except (OSError, ValueError, KeyError):
        return True
    ours, theirs = _devices(plan.variables), _devices([each["variables"] for each in other])
    return ours is None or theirs is None or bool(ours & theirs)


def _devices(variables: Sequence[Mapping[str, str]]) -> set[str] | None:
    """Return the devices of replicas; None if one of them may use all."""
    named = [each.get("CUDA_VISIBLE_DEVICES") for each in variables]
    if any(each is None for each in named):
        return None
    return {device for each in named if each for device in each.split(",")}


def _is_leased(folder: Path) -> bool:
    """Return whether a process uses a server. The supervisor that ends it has an exclusive lock, which is no lease."""
    return _is_locked(folder / LEASE, fcntl.LOCK_EX) and not _is_locked(folder / LEASE, fcntl.LOCK_SH)


def _is_locked(path: Path, kind: int) -> bool:
    try:
        with path.open("r") as lock:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def _lock(file: IO[str], kind: int, seconds: float) -> None:
    """Lock a file. A thread that waits in flock could not be interrupted, so this asks again and again."""
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise EndpointDown(
                    f"another process holds {file.name} for more than {seconds:g} s. End it, then rerun."
                ) from None
            time.sleep(POLL_S)
        except OSError as error:
            raise BadSettings(
                f"cannot lock {file.name} ({error}). Choose a `home` on a file system with locks."
            ) from error
        else:
            return
