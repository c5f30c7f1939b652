"""Leases: they end with their process, and no content of their files misleads a reader."""

import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from leased_process import SLEEP, leased_process

from resources.runs.leases import (
    Holder,
    abandoned_runs,
    acquire,
    end_holders,
    holder_of,
    is_leased,
    lease_folder_id,
    process_start,
    run_lease,
    signal_holder,
)


def test_lease_ends_with_the_process_that_inherited_it(tmp_path: Path) -> None:
    path = tmp_path / "leases/runs/a"
    with leased_process(path) as process:
        assert is_leased(path)
        assert acquire(path) is None
        assert holder_of(path) == Holder(process.pid, process_start(process.pid))
        process.kill()
        process.wait()
        assert not is_leased(path)
        assert list(abandoned_runs(tmp_path)) == ["a"]
        taken = acquire(path)
    assert taken is not None
    assert holder_of(path) is None, "the former holder is no longer named"
    taken.release()
    assert not path.exists()
    assert list(abandoned_runs(tmp_path)) == []


def test_readers_of_a_lease_do_not_prevent_its_acquisition(tmp_path: Path) -> None:
    path = tmp_path / "lease"
    path.touch()
    with ThreadPoolExecutor(4) as pool:
        reading = pool.map(is_leased, [path] * 2000)
        for _ in range(200):
            lease = acquire(path)
            assert lease is not None
            lease.file.close()
        list(reading)


def test_process_with_a_recycled_id_is_not_signaled(tmp_path: Path) -> None:
    path = tmp_path / "lease"
    innocent = subprocess.Popen(SLEEP)
    try:
        with leased_process(path):
            recycled = {"pid": innocent.pid, "started": f"{int(process_start(innocent.pid)) - 1}"}
            path.write_text(json.dumps(recycled))
            assert not signal_holder(path, signal.SIGKILL)
            assert end_holders([path], 0.1) == [path], "and the holder is reported"
            with pytest.raises(subprocess.TimeoutExpired):
                innocent.wait(0.5)
    finally:
        innocent.kill()
        innocent.wait()


def test_process_that_is_named_but_holds_no_lease_is_not_signaled(tmp_path: Path) -> None:
    path = tmp_path / "lease"
    innocent = subprocess.Popen(SLEEP)
    try:
        path.write_text(json.dumps({"pid": innocent.pid, "started": process_start(innocent.pid)}))
        assert not signal_holder(path, signal.SIGKILL)
        assert end_holders([path], 0.1) == []
        assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\x00",
        b'{"pid": 1}',
        b'{"pid": "1", "started": "2"}',
        b'{"pid": true, "started": "2"}',
        b'{"pid": -1, "started": "2"}',
        b'{"pid": 0, "started": ""}',
        b'{"pid": 1, "started": 2}',
        b'{"pid": 1, "started": "2", "address": []}',
    ],
)
def test_corrupted_lease_file_names_no_holder_but_stays_held(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "lease"
    with leased_process(path):
        path.write_bytes(content)
        assert holder_of(path) is None
        assert is_leased(path)
        assert not signal_holder(path, 0)
    assert not is_leased(path)
    assert acquire(path) is not None


def test_lease_does_not_depend_on_the_clock(tmp_path: Path) -> None:
    path = tmp_path / "lease"
    with leased_process(path) as process:
        for moment in (0, 4_000_000_000):
            os.utime(path, (moment, moment))
            assert is_leased(path)
            assert holder_of(path) == Holder.of(process.pid)
    os.utime(path, (4_000_000_000, 4_000_000_000))
    assert not is_leased(path)


def test_ended_process_has_no_start_time() -> None:
    process = subprocess.Popen(SLEEP)
    assert Holder.of(process.pid).is_running
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # a zombie
    assert process_start(process.pid) == ""
    process.wait()
    assert process_start(process.pid) == ""
    assert not Holder(process.pid, "").is_running


def test_holders_are_terminated_then_killed(tmp_path: Path) -> None:
    with leased_process(tmp_path / "a") as first, leased_process(tmp_path / "b") as second:
        second.send_signal(signal.SIGSTOP)  # does not react to SIGTERM
        assert end_holders([tmp_path / "a", tmp_path / "b", tmp_path / "missing"], 3.0) == []
        assert first.wait() == -signal.SIGTERM
        assert second.wait() in (-signal.SIGTERM, -signal.SIGKILL), "both signals wait for it"


def test_lease_folder_has_one_id(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        (found,) = set(pool.map(lease_folder_id, [tmp_path] * 32))
    assert len(found) == 16
    assert lease_folder_id(tmp_path / "other") != found
    (tmp_path / "leases/id").write_text("")
    assert len(lease_folder_id(tmp_path)) == 16, "an empty file, from a disk that was full"
    assert [path.name for path in (tmp_path / "leases").iterdir()] == ["id"]
    assert run_lease(tmp_path, "x") == tmp_path / "leases/runs/x"
