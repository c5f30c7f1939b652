"""The program that runs the replicas of one vLLM server, restarts a crashed one once, and ends them when unused.

Run as `python supervisor.py FOLDER`. FOLDER/plan.json has the commands, and the program writes FOLDER/state.json. Every
process that uses the server holds a shared lock on FOLDER/lease, which the system releases when the process ends, also
after SIGKILL. The program holds an exclusive lock on FOLDER/supervisor as long as it runs. It uses the standard library
only, so that it does not depend on memflow's environment while it runs.
"""

import ctypes
import fcntl
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PLAN, STATE, LEASE, ALIVE, STOP = "plan.json", "state.json", "lease", "supervisor", "stop"
POLL_S = 0.2
HEALTH_S = 5.0
"""Timeout of a health check in seconds."""
STABLE_S = 3600.0
"""Seconds after which a restarted replica may be restarted again."""
TERM_S, KILL_S = 20.0, 10.0
"""Seconds between SIGTERM and SIGKILL, and after SIGKILL."""
PORT_TRIES = 4
LOGS = 5
"""Number of former logs that are kept for each replica."""
SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36
"""Options of Linux's prctl: the signal that a process gets when its parent ends; and that processes without a parent
become children of this one, which can release their ids."""
ADDRESS_IN_USE = ("address already in use", "address in use", "errno 98")


def process_start(pid: int) -> str:
    """Return the time at which a process started, since the boot; "" if it has ended or the time is unknown."""
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if status[0] in (b"Z", b"X") else status[19].decode()


def boot_id() -> str:
    """Return the id of the system's boot, without which process ids of a file mean nothing; "" if unknown."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def write_json(path: Path, value: Any) -> None:
    """Write a file in one step, so that no reader sees a part of it."""
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps(value, indent=1), encoding="utf-8")
    draft.replace(path)


def free_port() -> int:
    """Return a port of the loopback interface that is free now."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@dataclass
class Replica:
    """One `vllm serve` process with its process group, and what a reader of state.json may know of it."""

    number: int
    command: list[str | None]
    """The words of the command; None stands for the port."""
    variables: dict[str, str]
    log: str
    status: str = "starting"
    """starting, ready, restarting or lost."""
    port: int = 0
    pid: int = 0
    start: str = ""
    """When the process started, which verifies that the process id is still that of this replica."""
    exit: str = ""
    """How the process ended last."""
    restarts: int = 0
    startup_s: float = 0.0
    _began: float = 0.0
    _process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    def launch(self) -> None:
        """Start the process with a new log. Raises OSError if the program cannot be run."""
        self.port = self.port or free_port()
        _rotate(Path(self.log))
        self._began = time.monotonic()
        words = [str(self.port) if word is None else word for word in self.command]
        with Path(self.log).open("wb") as log:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.variables},
                start_new_session=True,
                preexec_fn=_end_with_parent,  # noqa: PLW1509  (this process has one thread)
            )
        self.pid = self._process.pid
        self.start = process_start(self.pid)

    def age(self) -> float:
        """Return the seconds since the last start of the process."""
        return time.monotonic() - self._began

    def ended(self) -> bool:
        """Return whether the process has ended, and note how. The process is not reaped, so its id stays reserved."""
        if self._process is None:
            return True
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        found = os.waitid(os.P_PID, self.pid, options)
        if found is None:
            return False
        by_signal = found.si_code in (os.CLD_KILLED, os.CLD_DUMPED)
        self.exit = (
            f"was ended by signal {found.si_status}" if by_signal else f"exited with status {found.si_status}"
        )
        return True

    def healthy(self) -> bool:
        """Return whether the server answers its health check."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HEALTH_S)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def signal(self, number: int) -> None:
        """Send a signal to the process group, which exists as long as the process is not reaped."""
        if self._process is not None:
            try:
                os.killpg(self.pid, number)
            except (ProcessLookupError, PermissionError):
                return

    def reap(self) -> None:
        """End what is left of the process group and release its id."""
        self.signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait(KILL_S)
            self._process = None

    def address_was_taken(self) -> bool:
        """Return whether the log says that another process uses the port."""
        text = Path(self.log).read_text(encoding="utf-8", errors="replace")[-20_000:].lower()
        return any(words in text for words in ADDRESS_IN_USE)

    def state(self) -> dict[str, Any]:
        """Return what state.json says of the replica."""
        shown = {name: each for name, each in vars(self).items() if not name.startswith("_")}
        return {**shown, "command": [str(self.port) if word is None else word for word in self.command]}


class Supervisor:
    """The loop that starts, observes and ends the replicas of one plan."""

    def __init__(self, folder: Path, plan: dict[str, Any]) -> None:
        self.folder = folder
        self.idle = float(plan["idle"])
        self.startup = float(plan["startup"])
        self.replicas = [
            Replica(number, each["command"], each["variables"], str(folder / f"replica_{number}.log"))
            for number, each in enumerate(plan["replicas"], 1)
        ]
        self.status = "starting"
        self.reason = ""
        self.signaled = False
        self._ports = PORT_TRIES
        self._began = time.time()
        self._unused_since: float | None = None
        self._written: Any = None
        self._lease = (folder / LEASE).open("a")

    def run(self) -> None:
        """Run the replicas until nobody uses them, all are lost, or a signal asks to end."""
        try:
            for each in self.replicas:
                self._launch(each)
            self._write()
            while self.status in ("starting", "ready") and not self.signaled and not self._unused():
                for each in self.replicas:
                    self._observe(each)
                if self.status == "starting" and all(each.status == "ready" for each in self.replicas):
                    self.status = "ready"
                if all(each.status == "lost" for each in self.replicas):
                    self._fail(self.reason or "all replicas ended")
                self._write()
                time.sleep(POLL_S)
        except Exception as error:
            self._fail(f"was ended, because its supervisor failed: {error!r}")
            raise
        finally:
            self._end()

    def _launch(self, replica: Replica) -> None:
        try:
            replica.launch()
        except OSError as error:
            replica.status = "lost"
            self._fail(f"cannot run {replica.command[0]!r} ({error})")

    def _fail(self, reason: str) -> None:
        self.status, self.reason = "failed", reason

    def _observe(self, replica: Replica) -> None:
        if replica.status == "lost":
            return
        if replica.ended():
            self._replace(replica)
        elif replica.status != "ready":
            if replica.healthy():
                replica.status, replica.startup_s = "ready", round(replica.age(), 1)
            elif replica.age() > self.startup:
                self._lose(replica, f"was not ready after {self.startup:g} s")
        elif replica.restarts and replica.age() > STABLE_S:
            replica.restarts = 0

    def _replace(self, replica: Replica) -> None:
        """Start an ended replica again: with another port if its port was taken, else once, on its port."""
        replica.reap()
        if replica.status == "starting":
            self._ports -= 1
            if replica.address_was_taken() and self._ports > 0:
                replica.port = 0
                self._launch(replica)
                return
            self._lose(replica, replica.exit)
        elif replica.status == "ready" and replica.restarts == 0:
            replica.status, replica.restarts = "restarting", 1
            self._launch(replica)
        else:
            self._lose(replica, f"{replica.exit} after a restart")

    def _lose(self, replica: Replica, how: str) -> None:
        """Give a replica up. If it was never ready, the plan does not work, so the others end too."""
        first = replica.status == "starting"
        replica.status, replica.exit = "lost", how
        self.reason = f"replica {replica.number} {how}" if len(self.replicas) > 1 else how
        replica.signal(signal.SIGKILL)
        if first:
            self._fail(self.reason)

    def _unused(self) -> bool:
        """Return whether no process has used the server for `idle` seconds. Then this process keeps the lease."""
        try:
            fcntl.flock(self._lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._unused_since = None
            return False
        now = time.monotonic()
        self._unused_since = now if self._unused_since is None else self._unused_since
        if now - self._unused_since >= self.idle or (self.folder / STOP).exists():
            return True
        fcntl.flock(self._lease, fcntl.LOCK_UN)
        return False

    def _end(self) -> None:
        """End all process groups: SIGTERM, then SIGKILL."""
        if self.status != "failed":
            self.status = "ending"
            self._write()
        for each in self.replicas:
            each.signal(signal.SIGTERM)
        until = time.monotonic() + TERM_S
        while not all(each.ended() for each in self.replicas) and time.monotonic() < until:
            time.sleep(0.05)
        for each in self.replicas:
            each.reap()
        _reap_orphans()
        if self.status != "failed":
            self.status = "ended"
        self._write()

    def _write(self) -> None:
        state = {
            "status": self.status,
            "reason": self.reason,
            "pid": os.getpid(),
            "boot": boot_id(),
            "began": self._began,
            "replicas": [each.state() for each in self.replicas],
        }
        if state != self._written:
            write_json(self.folder / STATE, state)
            self._written = state


def _rotate(log: Path) -> None:
    """Keep the former logs as NAME.1.log (the newest) to NAME.5.log."""
    names = [log, *(log.with_suffix(f".{number}.log") for number in range(1, LOGS + 1))]
    for older, newer in zip(reversed(names), reversed(names[:-1]), strict=False):
        if newer.exists():
            newer.replace(older)


def _reap_orphans() -> None:
    """Release the ids of the engines' processes, which have ended and lost their parent."""
    until = time.monotonic() + 1.0
    while time.monotonic() < until:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.02)
        except ChildProcessError:
            return  # there is none


def _end_with_parent() -> None:
    """Let the system end this process with its parent. What survives all the same is ended at the next start."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)


def main() -> int:
    """Run the plan of a folder. Return 1 if another supervisor runs there."""
    folder = Path(sys.argv[1])
    alive = (folder / ALIVE).open("a")
    for _ in range(50):  # another process may be looking whether a supervisor runs
        try:
            fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            time.sleep(0.1)
    else:
        return 1
    (folder / STOP).unlink(missing_ok=True)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    supervisor = Supervisor(folder, json.loads((folder / PLAN).read_text(encoding="utf-8")))

    def end(*_: object) -> None:
        supervisor.signaled = True

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    supervisor.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
