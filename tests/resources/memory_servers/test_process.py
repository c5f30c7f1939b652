"""Processes of memory servers: environment variables, logs, and the end of the process group."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop
from echo_servers import ANSWERS, sent, written_server

from memflow.errors import ServerFailed
from memflow.resources.memory_servers import process
from memflow.resources.memory_servers.guard import _write_log
from memflow.resources.memory_servers.transport import TimeLimits

ENVIRONMENT = """
HELLO = True
print("a log line", file=sys.stderr)
serve(lambda request: {"name": "x", "version": "1", "settings": dict(os.environ)})"""
CHILDREN = """
import signal, subprocess
DETACHED = "import time; time.sleep(600)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
stubborn = subprocess.Popen([sys.executable, "-c", STUBBORN], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
stubborn.stdout.readline()
detached = subprocess.Popen([sys.executable, "-c", DETACHED], stdin=subprocess.DEVNULL, start_new_session=True)
HELLO = True
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def answer(request):
    if request["op"] == "write" and request["write"] == 2:
        os._exit(3)
    pids = {"pids": [os.getpid(), stubborn.pid, detached.pid]}
    return {"name": "x", "version": "1", "settings": pids if "PIDS" in globals() else {}}
"""
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the processes of a process")
PARENT = """
import asyncio, os, sys
from pathlib import Path
from echo_servers import connect

async def main():
    server = connect([sys.executable, "server.py"], Path(sys.argv[1]))
    hello = await server.hello()
    print(*hello.settings["pids"], flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
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


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_server_that_closes_its_output_and_lives_on_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[[Coroutine[Any, Any, None]], None]
) -> None:
    monkeypatch.setattr(process, "GRACE_S", 0.1)
    body = "serve(lambda request: (os.close(1), time.sleep(600)))"

    async def work() -> None:
        async with written_server(tmp_path, body, limits=TimeLimits(20, 600, 600)) as server:
            with pytest.raises(ServerFailed, match="was ended by signal"):
                await asyncio.wait_for(server.reset("a"), 20)

    run(work())


@LINUX
async def test_stop_ends_the_server_and_the_processes_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server and one process ignore SIGTERM, and another process left the process group."""
    monkeypatch.setattr(process, "GRACE_S", 0.2)
    async with written_server(tmp_path, f"PIDS = True\n{CHILDREN}\nserve(answer)") as server:
        pids = (await server.hello()).settings["pids"]
        assert all(map(is_alive, pids))
        await server.stop()
        # A killed process ends when the system schedules it, which may be after stop() has returned.
        assert wait_until(lambda: not any(map(is_alive, pids)))


@LINUX
def test_server_and_its_processes_end_when_memflow_is_killed(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(f"{ANSWERS}PIDS = True\n{CHILDREN}\nserve(answer)", encoding="utf-8")
    paths = os.pathsep.join(path for path in sys.path if path)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 3
        assert all(map(is_alive, pids))
        parent.send_signal(signal.SIGKILL)
    assert wait_until(lambda: not any(map(is_alive, pids)))


async def test_end_of_a_server_is_noticed_while_a_process_of_it_keeps_its_output_open(tmp_path: Path) -> None:
    async with written_server(
        tmp_path, f"{CHILDREN}\nserve(answer)", limits=TimeLimits(20, 600, 600)
    ) as server:
        await server.reset("a")
        await server.write("a", 1, [sent(1, "x")])
        with pytest.raises(ServerFailed, match="ended with status 3"):
            await asyncio.wait_for(server.write("a", 2, [sent(2, "x")]), 20)


def test_long_log_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    source, write = os.pipe()
    with (tmp_path / "log").open("a+b") as log:
        log.write(b"an earlier start\n")
        log.flush()
        thread = threading.Thread(target=_write_log, args=(source, log.fileno(), 1_000, 2_000))
        thread.start()
        for number in range(5_000):
            os.write(write, f"line {number}\n".encode())
        os.close(write)
        thread.join()
    text = (tmp_path / "log").read_text(encoding="utf-8")
    assert text.startswith("an earlier start\nline 0\nline 1\n")
    assert text.endswith("line 4998\nline 4999\n")
    assert "--- memflow deleted" in text
    assert len(text) < 1_000 + 2 * 2_000 + 2 * 100
