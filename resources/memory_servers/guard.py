"""The program that starts a memory server and ends its process group when memflow ends, also after SIGKILL.

Run as `python guard.py FD PATIENCE COMMAND...` as the leader of a process group. FD is the read end of a pipe whose
write end only memflow has: its end of file means that memflow ended. It uses the standard library only.
"""

import os
import signal
import sys
import threading
import time

NOT_STARTED = 127
"""The exit status for a command that cannot be run."""
DEFAULTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)
"""Signals that have their default effect in the server."""


def main() -> int:
    """Run the command, and return its exit status: 128 + N if signal N ended it."""
    watched, patience, command = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    os.set_inheritable(watched, False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they are for the server
    try:
        server = os.posix_spawnp(command[0], command, os.environ, setsigmask=(), setsigdef=DEFAULTS)
    except OSError as error:
        print(f"cannot run {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        return NOT_STARTED
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):  # so that the end of the server's output is visible
        os.dup2(nothing, descriptor)
    threading.Thread(target=_end_with_memflow, args=(watched, patience), daemon=True).start()
    return _wait(server)


def _end_with_memflow(watched: int, patience: float) -> None:
    while os.read(watched, 1):
        pass
    os.killpg(0, signal.SIGTERM)
    time.sleep(patience)
    os.killpg(0, signal.SIGKILL)


def _wait(server: int) -> int:
    _, status = os.waitpid(server, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    os._exit(main())
