"""The programs of `memflow dev`: one per home, on a free port, which end together."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memflow.errors import MemflowError
from memflow.resources.process import default_signals
from memflow.resources.runs.dev_programs import hold_home, require_free_port

SUPERVISED = textwrap.dedent(
    """
    import os, sys
    from memflow.resources.runs import dev_programs
    from memflow.resources.runs.dev_programs import Program, supervise

    dev_programs.POLL_S = 0.02
    try:
        supervise([Program(name, [name]) for name in sys.argv[1:]], os.environ)
    except dev_programs.MemflowError as error:
        print("error:", error, flush=True)
    """
)
STEADY = textwrap.dedent(
    """
    import os, subprocess, sys, time
    from pathlib import Path

    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(__file__).with_suffix(".pid").write_text(f"{os.getpid()} {child.pid}")
    time.sleep(600)
    """
)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Return a folder with the modules `web` and `daemon`, which start a child."""
    for name in ("web", "daemon"):
        (tmp_path / f"{name}.py").write_text(STEADY)
    return tmp_path


@pytest.fixture
def supervised(programs: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a function that starts the supervision of modules in a session of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*names: str) -> subprocess.Popen[str]:
        path = os.pathsep.join((str(programs), str(Path(__file__).parents[3])))
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", SUPERVISED, *names],
                env={**os.environ, "PYTHONPATH": path},
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
                preexec_fn=default_signals(),  # noqa: PLW1509
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def await_true(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def processes(programs: Path, name: str) -> list[int]:
    """Wait until a program and its child run. Return their process ids."""
    path = programs / f"{name}.pid"
    await_true(lambda: path.exists() and path.read_text())
    return [int(part) for part in path.read_text().split()]


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_second_memflow_dev_of_a_home_is_refused_with_the_address_of_the_first(tmp_path: Path) -> None:
    with (
        hold_home(tmp_path, "http://127.0.0.1:3000"),
        pytest.raises(MemflowError, match=r"already runs on this home at http://127\.0\.0\.1:3000"),
        hold_home(tmp_path, "http://127.0.0.1:3001"),
    ):
        pass
    with hold_home(tmp_path, "http://127.0.0.1:3001"):
        pass


def test_port_that_is_in_use_is_reported_with_another() -> None:
    with socket.socket() as used:
        used.bind(("127.0.0.1", 0))
        used.listen()
        port = used.getsockname()[1]
        with pytest.raises(MemflowError, match=rf"port {port} of 127\.0\.0\.1 .*--port {port + 1}"):
            require_free_port("127.0.0.1", port)
    require_free_port("127.0.0.1", port)
    for host, wrong in (("127.0.0.1", 70000), ("no.such.host.invalid", 3000)):
        with pytest.raises(MemflowError, match=f"port {wrong} of {host}"):
            require_free_port(host, wrong)


@pytest.mark.parametrize("killed", [0, 1], ids=["program", "child"])
def test_program_that_is_killed_or_whose_child_is_ends_the_others(
    killed: int, programs: Path, supervised
) -> None:
    process = supervised("web", "daemon")
    web, daemon = processes(programs, "web"), processes(programs, "daemon")
    os.kill(daemon[killed], signal.SIGKILL)
    shown, _ = process.communicate(timeout=60)
    assert "error: the daemon has ended (exit status -9)." in shown and "then rerun" in shown
    await_true(lambda: all(map(has_ended, (*web, *daemon))))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_programs_and_their_children_end_with_memflow_dev(number: int, programs: Path, supervised) -> None:
    process = supervised("web", "daemon")
    started = [*processes(programs, "web"), *processes(programs, "daemon")]
    process.send_signal(number)
    process.communicate(timeout=60)
    await_true(lambda: all(map(has_ended, started)))
    assert process.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 0)
