"""Processes: signal handlers, process groups and logs of subprocesses, the limit of open files, and freed memory."""

import ctypes
import gc
import os
import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

GROWTH_BYTES = 32_000_000
"""Growth of the resident memory after which freed memory is returned: smaller runs save the time."""
MALLOC_OPTIONS = {
    "MALLOC_TRIM_THRESHOLD_": (-1, 1 << 17),
    "MALLOC_MMAP_THRESHOLD_": (-3, 1 << 17),
    "MALLOC_ARENA_MAX": (-8, 2),
}
"""Options of glibc, by the variable that a user sets them with: its heap ends at the last block in use. By default both
thresholds rise with the largest freed block, up to 64 MB, and each thread of a library gets an arena."""

LOG_TAIL_LINES = 30
"""Number of log lines in an error message."""

_resident_after_release = [0]

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals that ask a process to end."""


def default_signals() -> Callable[[], None] | None:
    """Return a `preexec_fn` that lets the signals in ENDING end a subprocess; None if they already can.

    A subprocess inherits ignored and blocked signals. A shell without job control ignores SIGINT for a background job,
    and Dagster copies the handler of SIGINT to SIGTERM. Without this function, subprocesses of such a job would ignore
    both signals.
    """
    ignored = [number for number in ENDING if signal.getsignal(number) is signal.SIG_IGN]
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ()).intersection(ENDING)
    if not ignored and not blocked:
        return None

    def reset() -> None:
        for number in ignored:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)

    return reset


def allow_open_files(needed: int) -> int:
    """Raise this process's limit of open files to `needed`, if the system permits. Return the resulting limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        return allowed
    return needed if soft == resource.RLIM_INFINITY else soft


def release_freed_memory() -> None:
    """Return freed memory to the operating system, if the C library has `malloc_trim` (glibc on Linux)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def limit_free_memory() -> None:
    """Have the C library return large blocks to the operating system when they are freed (glibc on Linux)."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for variable, (option, value) in MALLOC_OPTIONS.items():
            if variable not in os.environ:
                mallopt(option, value)


def release_after_growth() -> None:
    """Collect garbage and release freed memory, if this process has grown by GROWTH_BYTES since the last release."""
    if _resident_bytes() - _resident_after_release[0] >= GROWTH_BYTES:
        gc.collect()
        release_freed_memory()
        _resident_after_release[0] = _resident_bytes()


def _resident_bytes() -> int:
    """Return the resident memory of this process; 0 where the system does not report it in /proc."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except FileNotFoundError:
        return 0


def terminate(process: subprocess.Popen[bytes]) -> None:
    """Terminate a process and its process group: SIGTERM, then SIGKILL after 20 s."""
    for number, patience in ((signal.SIGTERM, 20.0), (signal.SIGKILL, 10.0)):
        if not signal_group(process.pid, number):
            break
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    signal_group(process.pid, signal.SIGKILL)  # workers that still run
    process.wait(10)


def log_tail(log: Path, count: int = LOG_TAIL_LINES) -> str:
    """Return the last lines of a log file, preceded by its path."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:]
    return "\n".join([f"the end of {log}:", *lines])


def signal_group(group: int, number: signal.Signals) -> bool:
    """Send a signal to a process group. Return False if it has ended."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
