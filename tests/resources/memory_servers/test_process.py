"""Processes of memory servers: environment variables, logs, and the end of the process group."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from echo_servers import ANSWERS, written_server

from memflow.resources.memory_servers import process

ENVIRONMENT = """
HELLO = True
print("a log line", file=sys.stderr)
serve(lambda request: {"name": "x", "version": "1", "settings": dict(os.environ)})"""
STUBBORN = """
import signal, subprocess
CHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
child.stdout.readline()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
HELLO = True
serve(lambda request: {"name": "x", "version": "1", "settings": {"pids": [os.getpid(), child.pid]}})
time.sleep(600)
"""
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the processes of a process")
PARENT = """
import asyncio, sys, uvloop
from pathlib import Path
from echo_servers import connect

async def main():
    servers = [connect([sys.executable, "server.py"], Path(sys.argv[1])) for _ in range(2)]
    print(*[(await server.hello()).version for server in servers], flush=True)
    await asyncio.sleep(600)

(uvloop if sys.argv[2] == "uvloop" else asyncio).run(main())
"""


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a process that ended and was not collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Wait until a condition is true. Return whether it became true in time."""
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


async def test_server_receives_allowed_and_named_variables_only_and_logs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-allowed")
    monkeypatch.setenv("MEMORY_SERVICE_KEY", "sk-allowed")
    async with written_server(tmp_path, ENVIRONMENT, variables=("MEMORY_SERVICE_KEY",)) as server:
        received = (await server.hello()).settings
    assert received["MEMORY_SERVICE_KEY"] == "sk-allowed"
    assert received["PATH"] == os.environ["PATH"]
    assert "sk-not-allowed" not in str(received)
    assert set(received) <= {
        *process.ALLOWED,
        *process.ADDED,
        "MEMORY_SERVICE_KEY",
        "LC_CTYPE",
        "LC_ALL",
        "PWD",
        "_",
    }
    log = (tmp_path / "echo.log").read_text(encoding="utf-8")
    assert "a log line" in log
    assert "sk-allowed" not in log


@LINUX
async def test_stop_ends_a_server_and_its_processes_that_ignore_the_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE_S", 0.2)
    async with written_server(tmp_path, STUBBORN) as server:
        pids = (await server.hello()).settings["pids"]
        assert all(map(is_alive, pids))
        await server.stop()
        # A killed process ends when the system schedules it, which may be after stop() has returned.
        assert wait_until(lambda: not any(map(is_alive, pids)))


@LINUX
@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_servers_end_when_memflow_is_killed(tmp_path: Path, loop: str) -> None:
    body = "HELLO = True\nserve(lambda request: {'name': 'x', 'version': str(os.getpid())})"
    (tmp_path / "server.py").write_text(f"{ANSWERS}{body}", encoding="utf-8")
    paths = os.pathsep.join(path for path in sys.path if path)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path), loop],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2 and all(map(is_alive, pids))
        parent.send_signal(signal.SIGKILL)
    assert wait_until(lambda: not any(map(is_alive, pids)))
