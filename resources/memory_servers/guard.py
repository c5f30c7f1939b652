"""The program that starts a memory server and ends its process group when memflow ends, also after SIGKILL.

Run as `python guard.py FD PATIENCE COMMAND...`. FD is the read end of a pipe whose write end only memflow has: the byte
`k` requests SIGKILL for the server's process group, another byte SIGTERM, and the end of file means that memflow ended.
The program uses the standard library only.
"""

import os
import signal
import sys
import threading
import time

NOT_STARTED = 127
"""The exit status for a command that cannot be run."""
KILL = b"k"
DEFAULTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)
"""Signals that have their default effect in the server."""


def main() -> int:
    """Run the command, and return its exit status: 128 + N if signal N ended it."""
    control, patience, command = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    os.set_inheritable(control, False)
    try:
        server = os.posix_spawnp(
            command[0], command, os.environ, setpgroup=0, setsigmask=(), setsigdef=DEFAULTS
        )
    except OSError as error:
        print(f"cannot run {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        return NOT_STARTED
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):  # so that the end of the server's output is visible
        os.dup2(nothing, descriptor)
    threading.Thread(target=_obey, args=(control, patience, server), daemon=True).start()
    os.waitid(os.P_PID, server, os.WEXITED | os.WNOWAIT)
    _signal(server, signal.SIGKILL)  # processes that it started, which may have its output open
    _, status = os.waitpid(server, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _obey(control: int, patience: float, server: int) -> None:
    """Send the signals that memflow requests; when memflow ended, SIGTERM and then SIGKILL."""
    while request := os.read(control, 1):
        _signal(server, signal.SIGKILL if request == KILL else signal.SIGTERM)
    _signal(server, signal.SIGTERM)
    time.sleep(patience)
    _signal(server, signal.SIGKILL)


def _signal(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


if __name__ == "__main__":
    os._exit(main())
