"""The programs of `memflow dev`: the web server and the daemon, each with a lease, restarted when they end.

`memflow dev` itself holds a lease, so that a second one on the same home is refused. A program that survives its
`memflow dev` is found by its lease and ended by the next.
"""

import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from memflow.errors import MemflowError
from resources.process import default_signals
from resources.runs.leases import (
    LEASES,
    Holder,
    Lease,
    acquire,
    end_holders,
    holder_of,
    is_leased,
    run_leases,
    signal_holder,
)

DEV = "dev"
"""The lease of `memflow dev` itself."""
POLL_S = 0.2
GRACE_S = 8.0
"""Seconds in which a program or a run may end by itself, before it is killed."""
STEADY_S = 60.0
"""A program that ran this long has started well: its next end is the first again."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
MAX_STARTS = 5
"""The number of starts in succession, each ended within STEADY_S, after which a program is given up."""


@dataclass
class Program:
    """A Python module that `memflow dev` runs as a child process, and its starts so far."""

    name: str
    arguments: Sequence[str]
    before_start: Callable[[], None] = lambda: None
    starts: int = 0
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _started: float = 0.0
    _next_start: float = 0.0

    def start(self, folder: Path, environment: Mapping[str, str]) -> None:
        """Start the program with a lease in the instance's folder."""
        self.before_start()
        lease = acquire(folder / LEASES / self.name)
        if lease is None:
            raise MemflowError(
                f"another {self.name} of this home is running. End it, then rerun. Its lease is "
                f"{folder / LEASES / self.name}."
            )
        # In the process group of this one, so that Ctrl-C and a kill of the group reach all of them.
        self.process = subprocess.Popen(
            list(self.arguments),
            env=dict(environment),
            pass_fds=[lease.descriptor],
            preexec_fn=default_signals(),  # noqa: PLW1509
        )
        lease.hand_over(Holder.of(self.process.pid))
        self.starts += 1
        self._started = time.monotonic()

    def has_ended(self) -> bool:
        """Return whether the program has ended. Schedule its next start with back-off.

        Raises MemflowError if it ended soon after each of its last MAX_STARTS starts.
        """
        if self.process is None or self.process.poll() is None:
            return False
        status, self.process = self.process.returncode, None
        if time.monotonic() - self._started >= STEADY_S:
            self.starts = 0
        if self.starts >= MAX_STARTS:
            raise MemflowError(
                f"the {self.name} has ended {self.starts} times soon after its start (exit status {status}). Fix the "
                "error in its output, then rerun."
            )
        pause = min(FIRST_PAUSE_S * 2 ** max(self.starts - 1, 0), LONGEST_PAUSE_S)
        self._next_start = time.monotonic() + pause
        return True

    def is_due(self) -> bool:
        """Return whether the program has to be started again now."""
        return self.process is None and time.monotonic() >= self._next_start


def hold_home(folder: Path, address: str) -> Lease:
    """Acquire the lease of `memflow dev`. Raises MemflowError with the address of the one that runs on this home."""
    path = folder / LEASES / DEV
    lease = acquire(path)
    if lease is None:
        holder = holder_of(path)
        where = f" at {holder.address} (process {holder.pid})" if holder else ""
        raise MemflowError(
            f"`memflow dev` already runs on this home{where}. Open its address, or stop it, then rerun."
        )
    lease.name_holder(Holder.here(address))
    return lease


def require_free_port(host: str, port: int) -> None:
    """Raise MemflowError if the UI cannot listen on the port."""
    try:
        if not 0 <= port < 65536:
            raise OSError("ports are numbers below 65536")
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except OSError as error:
        raise MemflowError(
            f"the UI cannot listen on port {port} of {host} ({error}). Choose another port, such as `memflow dev "
            f"--port {port + 1 if port < 65535 else 3001}`, or end the program that uses it."
        ) from error


def end_survivors(folder: Path, names: Sequence[str]) -> list[str]:
    """End the programs of a former `memflow dev` that was killed without them. Return their names."""
    paths = [folder / LEASES / name for name in names]
    found = [path.name for path in paths if is_leased(path)]
    if left := end_holders(paths, GRACE_S):
        raise MemflowError(
            f"a {left[0].name} of an earlier `memflow dev` still runs and cannot be identified by its lease {left[0]}. "
            "End it, then rerun."
        )
    return found


def supervise(
    programs: Sequence[Program],
    folder: Path,
    environment: Mapping[str, str],
    report: Callable[[str], None],
) -> None:
    """Run the programs until SIGINT or SIGTERM, and restart each that ends. At last end the processes of all runs."""
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        # An exception could leave a program that has just started, and that no one would end.
        received.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        for program in programs:
            program.start(folder, environment)
        while not received:
            for program in programs:
                if program.has_ended():
                    report(f"The {program.name} has ended and is started again.")
                elif program.is_due():
                    program.start(folder, environment)
            time.sleep(POLL_S)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        # The runs stay in progress: the next `memflow dev` continues them.
        for path in run_leases(folder):
            signal_holder(path, signal.SIGTERM)
        _end(programs)
        end_holders(run_leases(folder), GRACE_S)


def _end(programs: Sequence[Program]) -> None:
    """Terminate the programs; after GRACE_S seconds, kill those that still run."""
    running = [program.process for program in programs if program.process is not None]
    for process in running:
        process.terminate()
    deadline = time.monotonic() + GRACE_S
    for process in running:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
