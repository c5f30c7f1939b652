"""A Ray cluster on one machine, for tests and benchmarks.

A node has its own home folder and its own environment, as it has on a machine of its own. `kill` ends all processes of
a node at once, as a power cut does.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
NODE = "MEMFLOW_HOME"
"""The variable that tells the processes of one node from those of another."""
START_S = 180.0


def free_port() -> int:
    """Return a port that no process listens on. Ray reserves 10002 to 19999 for its workers."""
    while True:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        if not 10002 <= port <= 19999:
            return port


class RayNodes:
    """Ray nodes on this machine, started with shell commands. Each has a home folder of its own."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        """The variables with the secret that Ray demands of the nodes and of who submits jobs."""
        self.environment = {**environment, **self.token}
        self.port, self.dashboard = free_port(), free_port()
        # Ray's sockets need a short path.
        self.temporary = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))

    @property
    def address(self) -> str:
        """The address of the head node's dashboard, which accepts jobs."""
        return f"http://127.0.0.1:{self.dashboard}"

    def home(self, node: str) -> Path:
        """Return the home folder of a node."""
        return self.folder / f"home_{node}"

    def start(self, node: str, command: str) -> None:
        """Start a node with the shell command of the documentation, on free ports. Raises RuntimeError if it fails."""
        command = re.sub(r"(?<=[=:])6379\b", str(self.port), command)
        command = re.sub(r"(?<==)8265\b", str(self.dashboard), command)
        command = command.replace("HEAD", socket.gethostbyname(socket.gethostname()))
        command = re.sub(r"--temp-dir=\S+", f"--temp-dir={self.temporary}", command)
        programs = str(Path(sys.executable).parent)
        environment = {
            **self.environment,
            NODE: str(self.home(node)),
            "PATH": f"{programs}{os.pathsep}{self.environment.get('PATH', os.defpath)}",
        }
        for last in (False, False, True):  # Ray gives a node half a minute, which a busy machine may exceed
            ended = subprocess.run(
                command,
                shell=True,
                check=False,
                env=environment,
                cwd=self.folder,
                capture_output=True,
                text=True,
                timeout=START_S,
            )
            if ended.returncode == 0:
                return
            self.kill(node)
            if last:
                raise RuntimeError(
                    f"{command} failed. Fix the error, then rerun: {ended.stdout[-2000:]}{ended.stderr[-2000:]}"
                )

    def processes(self, node: str) -> list[int]:
        """Return the process ids of a node: Ray's, and those of the runs on it."""
        wanted = f"{NODE}={self.home(node)}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return found

    def accepts_strangers(self) -> bool:
        """Return whether the dashboard answers a request for the jobs without the secret."""
        try:
            urllib.request.urlopen(f"{self.address}/api/jobs/", timeout=30).close()
        except urllib.error.HTTPError as error:
            if error.code in (401, 403):
                return False
            raise
        return True

    def runs(self, node: str) -> list[int]:
        """Return the ids of the processes of a node that execute a Dagster run."""
        found = []
        for process in self.processes(node):
            with suppress(OSError):
                arguments = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
                if b"api" in arguments and {b"execute_run", b"resume_run"} & set(arguments):
                    found.append(process)
        return found

    def kill(self, node: str) -> int:
        """Kill all processes of a node with SIGKILL. Return their number."""
        killed = set[int]()
        while left := self.processes(node):
            killed.update(left)
            for process in left:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.05)
        return len(killed)

    def close(self, *nodes: str) -> None:
        """Kill the nodes, and remove Ray's files."""
        for node in nodes:
            self.kill(node)
        shutil.rmtree(self.temporary, ignore_errors=True)


def documented_commands() -> dict[str, str]:
    """Return the commands of docs/how-to/deploy.md that start the nodes, by node."""
    text = (ROOT / "docs" / "how-to" / "deploy.md").read_text(encoding="utf-8").replace("\\\n", " ")
    found = [line for line in text.splitlines() if line.startswith("ray start")]
    if len(found) != 2:
        raise RuntimeError("docs/how-to/deploy.md does not have two lines that begin with `ray start`.")
    return {"head" if "--head" in line else "second": line for line in found}
