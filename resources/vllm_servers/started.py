"""A vLLM server that memflow starts: one for each command, shared by the processes of a home folder on this host.

The first process that needs it starts it under a watchdog; others attach. It ends when the last process that holds a
lease of the home ends.
"""

import fcntl
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import IO

from memflow.errors import BadSettings, EndpointDown
from memflow.fingerprint import digest
from memflow.resources.process import log_tail

POLL_S, HEALTH_S = 0.1, 5.0
"""Seconds between two health checks, and until one has failed."""
LEASE, PORT = "lease", "port"
"""Names of files: the lock of all users of a home, and the port of a server."""
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def hold_lease(home: Path, given_up: threading.Event | None = None) -> IO[str]:
    """Return an open file; as long as it is open, the servers of a home folder do not end.

    Wait for servers that are ending. Raises EndpointDown if another thread sets `given_up` meanwhile.
    """
    folder = servers_folder(home)
    folder.mkdir(parents=True, exist_ok=True)
    lease = (folder / LEASE).open("a")
    while not _locks(lease, fcntl.LOCK_SH):
        _wait(given_up or threading.Event())
    return lease


def servers_folder(home: Path) -> Path:
    """Return the folder of the started servers of this host. Hosts that share a home have folders of their own."""
    return home.absolute() / "vllm" / re.sub("[^A-Za-z0-9_.-]+", "_", socket.gethostname() or "host")


@dataclass
class StartedServer:
    """A server in a home folder. In its command, None stands for the port."""

    home: Path
    model: str
    command: Sequence[str | None]
    variables: Mapping[str, str] = field(default_factory=dict)
    startup: float = 900.0
    """Seconds until the server must be ready."""
    given_up: threading.Event = field(default_factory=threading.Event, repr=False)
    """Set by another thread to end a wait in `attach`."""
    _watchdog: "subprocess.Popen[bytes] | None" = field(default=None, init=False, repr=False)
    """The process that this one has started, if any."""

    @property
    def folder(self) -> Path:
        """The folder of the server's files: the name of the model, and a digest of what is started."""
        slug = re.sub("[^A-Za-z0-9_.-]+", "_", Path(self.model).name)[:60]
        return servers_folder(self.home) / f"{slug}-{digest(list(self.command), dict(self.variables))[:12]}"

    @property
    def log(self) -> Path:
        """The output of the server's last start."""
        return self.folder / "server.log"

    def attach(self) -> str:
        """Return the base address of the server, started by this process if no other has. The caller holds a lease.

        Raises BadSettings if the program cannot be run, and EndpointDown if it ends or is not ready in time.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        while True:
            with self._alive.open("a") as alive:
                if _locks(alive, fcntl.LOCK_EX):
                    if self._watchdog is not None:
                        raise self.failure("ended before it was ready")
                    self._watchdog = self._start(alive)
            if (url := self._healthy_address()) is not None:
                return url
            if time.monotonic() - began > self.startup:
                if self._watchdog is not None:
                    self._watchdog.terminate()
                raise self.failure(f"was not ready after {self.startup:g} s")
            _wait(self.given_up)

    def is_running(self) -> bool:
        """Return whether the watchdog of the server runs, which has a lock as long as it does."""
        with self._alive.open("a") as alive:
            return not _locks(alive, fcntl.LOCK_SH)

    def failure(self, reason: str) -> EndpointDown:
        """Return the error of a server that has ended, with the last lines of its log."""
        tail = log_tail(self.log) if self.log.exists() else str(self.log)
        return EndpointDown(f"vLLM for {self.model} {reason}. Fix the error in its log, then rerun: {tail}")

    @property
    def _alive(self) -> Path:
        return self.folder / "alive"

    def _healthy_address(self) -> str | None:
        """Return the base address of the server if it is ready."""
        try:
            root = f"http://127.0.0.1:{(self.folder / PORT).read_text(encoding='ascii')}"
            _opener.open(f"{root}/health", timeout=HEALTH_S).close()
        except (OSError, HTTPException):
            return None  # it starts
        return f"{root}/v1"

    def _start(self, alive: IO[str]) -> "subprocess.Popen[bytes]":
        """Start the watchdog with the server. It inherits the lock on `alive`."""
        port = _free_port()
        command = [str(port) if word is None else word for word in self.command]
        if shutil.which(command[0]) is None:
            raise BadSettings(
                f"cannot run {command[0]!r}: there is no such program. Set `executable` of the model in memflow.toml "
                "to the vllm program of an environment that has vLLM."
            )
        (self.folder / PORT).write_text(str(port), encoding="ascii")
        watchdog = [sys.executable, "-I", "-S", str(Path(__file__).with_name("watchdog.py"))]
        with self.log.open("wb") as log:
            return subprocess.Popen(
                [*watchdog, str(servers_folder(self.home) / LEASE), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.variables},
                pass_fds=[alive.fileno()],
                start_new_session=True,  # it outlives this process if another one uses the server
            )


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _locks(file: IO[str], kind: int) -> bool:
    """Try to lock a file, without waiting. Return whether it worked."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(given_up: threading.Event) -> None:
    if given_up.wait(POLL_S):
        raise EndpointDown("the start of vLLM was given up, since the run ends.")
