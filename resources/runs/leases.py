"""Leases: lock files that name the process which runs a Dagster run, or a program of `memflow dev`.

A lease is an exclusive `flock` on a file, inherited by the process that is started with it. The kernel releases it when
the process ends, however it ends. So a lease needs no clock and no heartbeat, and a recycled process id cannot be
mistaken for its holder. The file's content only informs: who holds the lease, and since when. This module does not
import Dagster, so that commands can find the leases of killed processes quickly.
"""

import fcntl
import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

LEASES = "leases"
"""The folder of the leases, below that of the instance."""
RUNS = "runs"
"""The folder of the leases of runs, below LEASES. Each is named by its run."""
POLL_S = 0.02
TRIES = 5
"""The number of attempts to acquire a lease: `is_leased` in another process locks it for a moment."""


@dataclass(frozen=True)
class Holder:
    """The process that holds a lease, as its file states.

    `started` identifies a process together with `pid`, because the system reuses process ids.
    """

    pid: int
    started: str
    address: str = ""
    """The address of the UI, for `memflow dev`."""

    @classmethod
    def of(cls, pid: int, address: str = "") -> "Holder":
        """Return the holder for a running process."""
        return cls(pid, process_start(pid), address)

    @classmethod
    def here(cls, address: str = "") -> "Holder":
        """Return this process as a holder."""
        return cls.of(os.getpid(), address)

    @property
    def is_running(self) -> bool:
        """Whether the process still runs. A later process with the same id is not this one."""
        return bool(self.started) and process_start(self.pid) == self.started


@dataclass
class Lease:
    """A lease that this process holds, until it is released or handed to a child process."""

    path: Path
    file: IO[str]

    @property
    def descriptor(self) -> int:
        """The file descriptor that a child process must inherit (`pass_fds`)."""
        return self.file.fileno()

    def name_holder(self, holder: Holder) -> None:
        """Write who holds the lease."""
        self.file.seek(0)
        self.file.truncate()
        self.file.write(json.dumps(asdict(holder)))
        self.file.flush()

    def hand_over(self, holder: Holder) -> None:
        """Name the child process that inherited the lease, and close this process's descriptor."""
        self.name_holder(holder)
        self.file.close()

    def release(self) -> None:
        """Remove the file and release the lock."""
        with suppress(FileNotFoundError):
            self.path.unlink()
        self.file.close()


def acquire(path: Path) -> Lease | None:
    """Return a new lease at `path`, or None if another process holds it. The content of a former holder is removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tries = TRIES
    while tries:
        file = path.open("a+", encoding="utf-8", errors="replace")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            tries -= 1
            time.sleep(POLL_S)
            continue
        if _is_at(file, path):
            file.truncate(0)
            return Lease(path, file)
        file.close()  # the former holder removed the file between open and flock
    return None


def is_leased(path: Path) -> bool:
    """Return whether a running process holds the lease."""
    try:
        with path.open("r") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def holder_of(path: Path) -> Holder | None:
    """Return the process that the file names, or None if the file is missing, empty or corrupted."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        holder = Holder(found["pid"], found["started"], found.get("address", ""))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    texts = isinstance(holder.started, str) and isinstance(holder.address, str)
    return holder if type(holder.pid) is int and holder.pid > 0 and texts else None


def signal_holder(path: Path, number: int) -> bool:
    """Send a signal to the process that holds the lease. Return whether it was sent.

    The lock and the start time of the process must both agree with the file, so no other process is signaled.
    """
    holder = holder_of(path)
    if holder is None or not is_leased(path) or not holder.is_running:
        return False
    try:
        os.kill(holder.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end_holders(paths: list[Path], patience: float) -> list[Path]:
    """Terminate the holders; after `patience` seconds, kill them. Return the leases that are still held."""
    left = [path for path in paths if is_leased(path)]
    for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, 5.0)):
        for path in left:
            signal_holder(path, number)
        deadline = time.monotonic() + seconds
        while left and time.monotonic() < deadline:
            time.sleep(POLL_S)
            left = [path for path in left if is_leased(path)]
    return left


def run_leases(folder: Path) -> list[Path]:
    """Return the lease files of runs below the instance's folder."""
    return sorted((folder / LEASES / RUNS).glob("[!.]*"))


def run_lease(folder: Path, run_id: str) -> Path:
    """Return the lease file of a run."""
    return folder / LEASES / RUNS / run_id


def abandoned_runs(folder: Path) -> Iterator[str]:
    """Yield the runs whose lease file remains although its process has ended."""
    yield from (path.name for path in run_leases(folder) if not is_leased(path))


def lease_folder_id(folder: Path) -> str:
    """Return the random id of the lease folder, which is created by the first call.

    Only a process that sees the same folder can judge whether a run's lease is held. On another host the id differs.
    """
    path = folder / LEASES / "id"
    with suppress(FileNotFoundError):
        if found := path.read_text(encoding="utf-8", errors="replace").strip():
            return found
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".id.{secrets.token_hex(4)}")
    new.write_text(secrets.token_hex(8), encoding="utf-8")
    try:
        os.link(new, path)
    except FileExistsError:
        if not path.read_text(encoding="utf-8", errors="replace").strip():
            new.replace(path)  # an empty file, from a disk that was full
    new.unlink(missing_ok=True)
    return path.read_text(encoding="utf-8").strip()


def process_start(pid: int) -> str:
    """Return the start time of a process in the system's own unit, or an empty string if there is no such process.

    On Linux it is measured from the boot, so a changed clock does not change it.
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "" if Path("/proc/self/stat").exists() else _listed_start(pid)
    # The name of the program, in parentheses, may contain spaces and parentheses.
    state, *fields = status.rpartition(")")[2].split()
    return "" if state in "ZX" else fields[18]


def _listed_start(pid: int) -> str:
    """Return the start time that `ps` prints, for systems without /proc."""
    listed = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return listed.stdout.strip()


def _is_at(file: IO[str], path: Path) -> bool:
    """Return whether the open file is still the one at `path`."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
