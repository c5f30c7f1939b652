"""The programs of `memflow dev`: one per home, on a free port, restarted when they end, and ended with it."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from leased_process import leased_process

from memflow.errors import MemflowError
from resources.process import default_signals
from resources.runs.dev_programs import MAX_STARTS, end_survivors, hold_home, require_free_port
from resources.runs.leases import LEASES, Holder, acquire, holder_of, is_leased, run_lease

SUPERVISED = textwrap.dedent(
    """
    import os, sys
    from pathlib import Path
    from resources.runs import dev_programs
    from resources.runs.dev_programs import Program, supervise

    dev_programs.FIRST_PAUSE_S, dev_programs.LONGEST_PAUSE_S, dev_programs.POLL_S = 0.1, 0.1, 0.02
    programs = [
        Program(name, [sys.executable, "-c", code], lambda: print("before", flush=True))
        for name, code in zip(sys.argv[2::2], sys.argv[3::2])
    ]
    try:
        supervise(programs, Path(sys.argv[1]), os.environ, lambda sentence: print(sentence, flush=True))
    except dev_programs.MemflowError as error:
        print("error:", error, flush=True)
    """
)
STEADY = "import time; time.sleep(600)"


def supervised(folder: Path, **programs: str) -> subprocess.Popen[str]:
    named = [part for item in programs.items() for part in item]
    return subprocess.Popen(
        [sys.executable, "-c", SUPERVISED, str(folder), *named],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=default_signals(),  # noqa: PLW1509
    )


def await_true(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def lease_of(folder: Path, name: str) -> Path:
    return folder / LEASES / name


def test_second_memflow_dev_of_a_home_is_refused_with_the_address_of_the_first(tmp_path: Path) -> None:
    lease = hold_home(tmp_path, "http://127.0.0.1:3000")
    with pytest.raises(MemflowError, match=rf"http://127\.0\.0\.1:3000 \(process {os.getpid()}\)"):
        hold_home(tmp_path, "http://127.0.0.1:3001")
    lease.release()
    hold_home(tmp_path, "http://127.0.0.1:3001").release()
    with leased_process(lease_of(tmp_path, "dev"), named=False), pytest.raises(MemflowError, match="already"):
        hold_home(tmp_path, "http://127.0.0.1:3001")


def test_port_that_is_in_use_is_reported_with_another(tmp_path: Path) -> None:
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


def test_programs_that_survived_their_memflow_dev_are_ended(tmp_path: Path) -> None:
    with leased_process(lease_of(tmp_path, "daemon")) as survivor:
        assert end_survivors(tmp_path, ["webserver", "daemon"]) == ["daemon"]
        assert survivor.wait(10) == -signal.SIGTERM
    assert end_survivors(tmp_path, ["webserver", "daemon"]) == []


def test_survivor_that_cannot_be_identified_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.runs.dev_programs.GRACE_S", 0.1)
    path = lease_of(tmp_path, "daemon")
    with leased_process(path, named=False) as survivor:
        with pytest.raises(MemflowError, match=f"daemon .*{path}"):
            end_survivors(tmp_path, ["daemon"])
        assert survivor.poll() is None


def test_killed_program_is_started_again(tmp_path: Path) -> None:
    process = supervised(tmp_path, webserver=STEADY, daemon=STEADY)
    assert process.stdout is not None
    try:
        await_true(lambda: is_leased(lease_of(tmp_path, "daemon")))
        await_true(lambda: holder_of(lease_of(tmp_path, "daemon")) is not None)
        first, server = holder_of(lease_of(tmp_path, "daemon")), holder_of(lease_of(tmp_path, "webserver"))
        assert first is not None
        os.kill(first.pid, signal.SIGKILL)
        await_true(lambda: holder_of(lease_of(tmp_path, "daemon")) not in (None, first))
        assert holder_of(lease_of(tmp_path, "webserver")) == server
        lines = [process.stdout.readline().strip() for _ in range(4)]
        assert lines == ["before", "before", "The daemon has ended and is started again.", "before"]
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_program_that_ends_at_each_start_is_given_up(tmp_path: Path) -> None:
    process = supervised(tmp_path, webserver=STEADY, daemon="raise SystemExit(7)")
    shown, _ = process.communicate(timeout=120)
    assert f"error: the daemon has ended {MAX_STARTS} times soon after its start (exit status 7)." in shown
    assert not is_leased(lease_of(tmp_path, "webserver")), "the other program ends, too"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_programs_and_runs(number: int, tmp_path: Path) -> None:
    process = supervised(tmp_path, webserver=STEADY, daemon=STEADY)
    with leased_process(run_lease(tmp_path, "run")) as run:
        await_true(lambda: is_leased(lease_of(tmp_path, "daemon")))
        process.send_signal(number)
        process.communicate(timeout=60)
        assert run.wait(10) == -signal.SIGTERM
    assert process.returncode == 0
    assert not any(is_leased(lease_of(tmp_path, name)) for name in ("webserver", "daemon"))


def test_program_is_not_started_beside_another_of_its_name(tmp_path: Path) -> None:
    other = acquire(lease_of(tmp_path, "daemon"))
    assert other is not None
    other.name_holder(Holder.here())
    shown, _ = supervised(tmp_path, daemon=STEADY).communicate(timeout=60)
    assert "error: another daemon of this home is running." in shown
    other.release()
