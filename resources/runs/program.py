"""A program of `memflow dev`: `python -m memflow.resources.runs.program DESCRIPTOR MODULE ARGUMENT...`.

It runs a Python module, and kills its own process group, with what it has started, when `memflow dev` ends.
`memflow dev` holds the other end of a pipe, which the kernel closes however the process ends.
"""

import os
import runpy
import signal
import sys
import threading


def main(descriptor: int, module: str, *arguments: str) -> None:
    """Run a module as a command."""
    os.set_inheritable(descriptor, False)
    threading.Thread(target=_end_with_pipe, args=(descriptor,), daemon=True).start()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with_pipe(descriptor: int) -> None:
    os.read(descriptor, 1)  # returns when the other end is closed
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
