"""The programs of `memflow dev`, restarted when they end, and killed with it: code server, web server and daemon.

Each program leads a process group. That of the code server also has the runs. To stop is to kill the groups: the runs
stay in progress, and the next `memflow dev` returns them to the queue (recovery.py), as after a crash.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from memflow.errors import MemflowError
from memflow.resources.process import default_signals
from memflow.resources.runs.process_locks import DEV, lock

POLL_S = 0.2
PAUSE_S = 2.0
"""Seconds until a program that has ended is started again."""
STEADY_S = 60.0
"""A program that ran this long has started well."""
MAX_STARTS = 5
"""The number of starts in succession, each ended within STEADY_S, after which a program is given up."""
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass
class Program:
    """A Python module that `memflow dev` runs in a process group of its own, and its starts so far."""

    name: str
    arguments: Sequence[str]
    """The module and its arguments."""
    before_start: Callable[[], None] = lambda: None
    is_ready: Callable[[], bool] = lambda: True
    """Whether the programs after it can be started."""
    starts: int = 0
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _started: float = 0.0

    def start(self, pipe: int, environment: Mapping[str, str]) -> None:
        """Start the program. It ends when the other end of the pipe is closed."""
        self.before_start()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memflow.resources.runs.program", str(pipe), *self.arguments],
            env=dict(environment),
            pass_fds=[pipe],
            process_group=0,
            preexec_fn=default_signals(),  # noqa: PLW1509
        )
        self.starts += 1
        self._started = time.monotonic()

    def kill(self) -> None:
        """Kill the process group of the program."""
        if self.process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def restart_if_ended(self, pipe: int, environment: Mapping[str, str]) -> bool:
        """Kill what a program that has ended has left, and start it again. Return whether it had ended.

        Raises MemflowError if it ended soon after each of its last MAX_STARTS starts.
        """
        if self.process is None or self.process.poll() is None:
            return False
        self.kill()
        if time.monotonic() - self._started >= STEADY_S:
            self.starts = 0
        if self.starts >= MAX_STARTS:
            raise MemflowError(
                f"the {self.name} has ended {self.starts} times soon after its start (exit status "
                f"{self.process.returncode}). Fix the error in its output, then rerun."
            )
        time.sleep(PAUSE_S)
        self.start(pipe, environment)
        return True


@contextmanager
def hold_home(folder: Path, address: str) -> Iterator[None]:
    """Hold the lock of `memflow dev`. Raises MemflowError with the address of the one that runs on this home."""
    file = lock(folder / DEV)
    if file is None:
        holder = (folder / DEV).read_text(encoding="utf-8")
        raise MemflowError(
            f"`memflow dev` already runs on this home{f' at {holder}' if holder else ''}. Open its address, or stop "
            "it, then rerun."
        )
    with file:
        file.truncate(0)
        file.write(address)
        file.flush()
        yield


def require_free_port(host: str, port: int) -> None:
    """Raise MemflowError if the UI cannot listen on the port."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        socket.create_server((str(address[0]), port), family=family).close()
    except (OSError, OverflowError) as error:
        raise MemflowError(
            f"the UI cannot listen on port {port} of {host} ({error}). Choose another port, such as `memflow dev "
            f"--port {port + 1 if port < 65535 else 3001}`, or end the program that uses it."
        ) from error


def supervise(
    programs: Sequence[Program], environment: Mapping[str, str], report: Callable[[str], None]
) -> None:
    """Run the programs until SIGINT, SIGTERM or SIGHUP, and restart each that ends. At last kill all of them."""
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        # An exception could leave a program that has just started, and that no one would end.
        received.append(number)

    for number in STOPPING:
        signal.signal(number, stop)
    pipe, held = os.pipe()
    try:
        while not received:
            for program in programs:
                if program.process is None:
                    program.start(pipe, environment)
                elif program.restart_if_ended(pipe, environment):
                    report(f"The {program.name} has ended and was started again.")
                if not program.is_ready():
                    break
            time.sleep(POLL_S)
    finally:
        for program in programs:
            program.kill()
        os.close(held)
        os.close(pipe)
