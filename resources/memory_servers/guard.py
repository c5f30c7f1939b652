"""The program that starts a memory server and ends its process group when memflow ends, also after SIGKILL.

Run as `python guard.py FD PATIENCE COMMAND...`. FD is the read end of a pipe whose write end only memflow has: the byte
`k` requests SIGKILL for the server's process group, another byte SIGTERM, and the end of file means that memflow ended.
On Linux, the signals also reach processes that left the group, such as a database that runs in the background. The
program uses the standard library only.

What the server writes to stderr goes through a thread to the log, the program's own stderr, which has to be open for
reading, too. Of a long log of many starts, the beginning and the end are kept.
"""

import ctypes
import os
import signal
import sys
import threading
import time
from pathlib import Path

NOT_STARTED = 127
"""The exit status for a command that cannot be run."""
KILL = b"k"
DEFAULTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)
"""Signals that have their default effect in the server."""

MOST_FILES = 65_536
"""Open files of memflow that a server could inherit."""
LOG_HEAD = LOG_TAIL = 2_000_000
"""Bytes of the beginning and of the end of a server's log that are always kept."""
LOG_CHUNK = 1 << 16
DRAIN_S = 1.0
"""Seconds in which the rest of the log is written after the end of the server."""
SET_CHILD_SUBREAPER = 36
"""The option of Linux's prctl with which processes without a parent become children of this one."""


def main() -> int:
    """Run the command, and return its exit status: 128 + N if signal N ended it."""
    control, patience, command = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    os.set_inheritable(control, False)
    # uvloop leaves further copies of the server's stdin and stdout open, so that their end would not be seen.
    os.closerange(3, control)
    os.closerange(control + 1, MOST_FILES)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    output, errors = os.pipe()
    try:
        server = os.posix_spawnp(
            command[0],
            command,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, errors, 2)],
            setpgroup=0,
            setsigmask=(),
            setsigdef=DEFAULTS,
        )
    except OSError as error:
        print(f"cannot run {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        return NOT_STARTED
    os.close(errors)
    log = threading.Thread(target=_write_log, args=(output, 2, LOG_HEAD, LOG_TAIL), daemon=True)
    log.start()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):  # so that the end of the server's output is visible
        os.dup2(nothing, descriptor)
    threading.Thread(target=_obey, args=(control, patience, server), daemon=True).start()
    while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)) and ended.si_pid != server:
        os.waitpid(ended.si_pid, 0)  # a process without a parent
    _signal(server, signal.SIGKILL)  # processes that it started, which may have its output open
    _, status = os.waitpid(server, 0)
    log.join(DRAIN_S)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _write_log(source: int, log: int, head: int, tail: int) -> None:
    """Copy to a log of at most `head` and twice `tail` bytes: the middle of a longer text is deleted."""
    deleted = 0
    while chunk := os.read(source, LOG_CHUNK):
        os.write(log, chunk)
        size = os.fstat(log).st_size
        if size > head + 2 * tail:
            end = os.pread(log, tail, size - tail)
            os.ftruncate(log, head)
            deleted += size - tail - head
            note = f"\n--- memflow deleted some {deleted:,} bytes here, since the log grew too long\n"
            os.write(log, note.encode() + end)


def _obey(control: int, patience: float, server: int) -> None:
    """Send the signals that memflow requests; when memflow ended, SIGTERM and then SIGKILL."""
    while request := os.read(control, 1):
        _signal(server, signal.SIGKILL if request == KILL else signal.SIGTERM)
    _signal(server, signal.SIGTERM)
    time.sleep(patience)
    _signal(server, signal.SIGKILL)


def _signal(group: int, number: signal.Signals) -> None:
    for send, target in ((os.killpg, group), *((os.kill, each) for each in _descendants(os.getpid()))):
        try:
            send(target, number)
        except (ProcessLookupError, PermissionError):
            continue


def _descendants(root: int) -> list[int]:
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


if __name__ == "__main__":
    os._exit(main())
