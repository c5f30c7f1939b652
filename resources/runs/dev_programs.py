"""The programs of `memflow dev`, which end together: code server, web server and daemon.

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
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from memflow.errors import MemflowError
from memflow.resources.process import default_signals
from memflow.resources.runs.process_locks import DEV, lock

POLL_S = 0.2
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Program(NamedTuple):
    """A Python module that `memflow dev` runs in a process group of its own."""

    name: str
    arguments: Sequence[str]
    """The module and its arguments."""
    is_ready: Callable[[], bool] = lambda: True
    """Whether the programs after it can be started."""

    def start(self, pipe: int, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start the program. It ends when the other end of the pipe is closed."""
        return subprocess.Popen(
            [sys.executable, "-m", "memflow.resources.runs.program", str(pipe), *self.arguments],
            env=dict(environment),
            pass_fds=[pipe],
            process_group=0,
            preexec_fn=default_signals(),  # noqa: PLW1509
        )


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


def supervise(programs: Sequence[Program], environment: Mapping[str, str]) -> None:
    """Run the programs until SIGINT, SIGTERM or SIGHUP. At last kill all of them.

    Raises MemflowError if one of them ends.
    """
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        # An exception could leave a program that has just started, and that no one would end.
        received.append(number)

    for number in STOPPING:
        signal.signal(number, stop)
    pipe, held = os.pipe()
    started: list[subprocess.Popen[bytes]] = []
    try:
        while not received:
            if len(started) < len(programs) and (not started or programs[len(started) - 1].is_ready()):
                started.append(programs[len(started)].start(pipe, environment))
            for program, process in zip(programs, started, strict=False):
                if process.poll() is not None:
                    raise MemflowError(
                        f"the {program.name} has ended (exit status {process.returncode}). Fix the error in its "
                        "output, then rerun `memflow dev`: runs and backfills continue."
                    )
            time.sleep(POLL_S)
    finally:
        for process in started:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(held)
        os.close(pipe)
