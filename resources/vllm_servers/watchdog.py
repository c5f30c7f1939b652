"""The program that runs one vLLM server, and ends it when no process uses the servers of the home folder any more.

Run as `python watchdog.py LEASE WORD...`; the words are the command of the server. Processes that use servers hold a
shared lock on the file LEASE, which the system releases however they end, also after SIGKILL. The program needs the
standard library only, so that it does not depend on memflow's environment while it runs.
"""

import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

POLL_S = 0.2
TERM_S = 20.0
"""Seconds between SIGTERM and SIGKILL."""
SET_PARENT_DEATH_SIGNAL = 1
"""The option of Linux's prctl that sets the signal which a process gets when its parent ends."""


def main() -> None:
    """Run the command until it ends, until no process has a lock on the lease, or until a signal asks to end."""
    signaled: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: signaled.append(number))
    # The exclusive lock on the lease stays until the server has ended: the next user waits for it.
    with Path(sys.argv[1]).open("a") as lease:
        server = subprocess.Popen(
            sys.argv[2:],
            start_new_session=True,
            preexec_fn=_end_with_watchdog,  # noqa: PLW1509  (this process has one thread)
        )
        while not signaled and not _has_ended(server) and not _is_unused(lease):
            time.sleep(POLL_S)
        _end(server)
    print(f"vLLM exited with status {server.returncode}", flush=True)


def _end(server: "subprocess.Popen[bytes]") -> None:
    """End the process group of a server: SIGTERM, then SIGKILL."""
    until = time.monotonic() + TERM_S
    _signal(server.pid, signal.SIGTERM)
    while not _has_ended(server) and time.monotonic() < until:
        time.sleep(0.05)
    _signal(server.pid, signal.SIGKILL)
    server.wait()


def _has_ended(server: "subprocess.Popen[bytes]") -> bool:
    """Return whether a server has ended. It is not reaped, so that the id of its process group stays reserved."""
    return os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _is_unused(lease: IO[str]) -> bool:
    try:
        fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _end_with_watchdog() -> None:
    """Ask the kernel to end this process when its parent ends, even if the parent is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)


if __name__ == "__main__":
    main()
