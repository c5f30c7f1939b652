"""Programs that are run beside us: how one is ended with all that it started, and the end of what it said."""

import os
import signal
import subprocess
from pathlib import Path

TAIL = 30
"""Lines of a log that an error shows."""


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group of its own, and the group: asked first, then told."""
    for number, patience in ((signal.SIGTERM, 20.0), (signal.SIGKILL, 10.0)):
        if not _signal(process.pid, number):
            break
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    _signal(process.pid, signal.SIGKILL)  # workers that outlived it
    process.wait(10)


def tail(log: Path) -> str:
    """The last lines of a log, under its name."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL:]
    return "\n".join([f"the end of {log}:", *lines])


def _signal(group: int, number: signal.Signals) -> bool:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True
