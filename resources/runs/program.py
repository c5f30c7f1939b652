"""A program of `memflow dev`: `python -m memflow.resources.runs.program DESCRIPTOR MODULE ARGUMENT...`.

It runs a Python module, and kills its own process group, with what it has started, when `memflow dev` ends, which
holds the other end of a pipe. It does so, too, when a child is killed: Dagster's proxy would stay without code server.
"""

import os
import runpy
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType


def main(descriptor: int, module: str, *arguments: str) -> None:
    """Run a module as a command."""
    os.set_inheritable(descriptor, False)
    threading.Thread(target=_end_with_pipe, args=(descriptor,), daemon=True).start()
    if hasattr(os, "waitid"):  # macOS has it since Python 3.13
        signal.signal(signal.SIGCHLD, _end_with_killed_child)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with_pipe(descriptor: int) -> None:
    os.read(descriptor, 1)  # returns when the other end is closed
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _end_with_killed_child(number: int, frame: FrameType | None) -> None:
    with suppress(ChildProcessError):
        child = os.waitid(
            os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT
        )  # the program still gets the status
        if child and (child.si_code, child.si_status) == (os.CLD_KILLED, signal.SIGKILL):
            os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
