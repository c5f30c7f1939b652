"""The program that starts a memory server and ends its process group when memflow ends, also after SIGKILL.

Run as `python guard.py FD PATIENCE COMMAND...` as the leader of a process group. FD is the read end of a pipe whose
write end only memflow has: its end of file means that memflow ended. On Linux, it also ends the processes that left the
group, such as a database that runs in the background. It uses the standard library only.
"""

import ctypes
import os
import select
import signal
import sys
import threading
import time
from pathlib import Path

NOT_STARTED = 127
"""The exit status for a command that cannot be run."""
DEFAULTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)
"""Signals that have their default effect in the server."""
AT_ONCE_S = 0.05
"""A server that ends because memflow was killed may end this long before the guard sees that."""
MOST_FILES = 65_536
"""Open files of memflow that a server could inherit."""
SET_CHILD_SUBREAPER = 36
"""The option of Linux's prctl with which processes without a parent become children of this one."""


def main() -> int:
    """Run the command, and return its exit status: 128 + N if signal N ended it."""
    watched, patience, command = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    os.set_inheritable(watched, False)
    # uvloop leaves further copies of the server's stdin and stdout open, so that their end would not be seen.
    os.closerange(3, watched)
    os.closerange(watched + 1, MOST_FILES)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they are for the server
    _adopt_orphans()
    try:
        server = os.posix_spawnp(command[0], command, os.environ, setsigmask=(), setsigdef=DEFAULTS)
    except OSError as error:
        print(f"cannot run {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        return NOT_STARTED
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):  # so that the end of the server's output is visible
        os.dup2(nothing, descriptor)
    ending = threading.Thread(target=_end_with_memflow, args=(watched, patience), daemon=True)
    ending.start()
    status = _wait(server)
    if select.select([watched], [], [], AT_ONCE_S)[0]:
        ending.join()  # it also ends this process
    end_processes(descendants(os.getpid()), signal.SIGKILL)
    return status


def descendants(root: int) -> list[int]:
    """Return the processes that a process started, and those that they started; on Linux only, else none."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir() if sys.platform == "linux" else ():
        try:
            status = (folder / "stat").read_bytes()
            parents[int(folder.name)] = int(status.rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue  # no process, or one that has ended
    found = [root]
    for each in found:
        found.extend(child for child, parent in parents.items() if parent == each)
    return found[1:]


def end_processes(processes: list[int], number: int) -> None:
    """Send a signal to processes that may have ended."""
    for each in processes:
        try:
            os.kill(each, number)
        except (ProcessLookupError, PermissionError):
            continue


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_with_memflow(watched: int, patience: float) -> None:
    while os.read(watched, 1):
        pass
    os.killpg(0, signal.SIGTERM)
    end_processes(descendants(os.getpid()), signal.SIGTERM)
    time.sleep(patience)
    end_processes(descendants(os.getpid()), signal.SIGKILL)
    os.killpg(0, signal.SIGKILL)


def _wait(server: int) -> int:
    ended, status = 0, 0
    while ended != server:  # others are orphans
        ended, status = os.wait()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    os._exit(main())
