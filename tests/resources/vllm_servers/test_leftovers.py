"""Processes of a killed supervisor's replicas are ended only if they are verified to be the recorded ones."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from resources.vllm_servers.leftovers import end_leftovers, processes_of
from resources.vllm_servers.supervisor import boot_id, process_start

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are verified by /proc")
PROGRAM = """
import subprocess
child = subprocess.Popen(["sleep", "600"])
print(child.pid, flush=True)
child.wait()
"""


@contextmanager
def replica() -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """Yield a process that leads a session, and the id of its child."""
    words = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            yield process, child
        finally:
            for pid in processes_of(process.pid, process_start(process.pid) or "gone"):
                subprocess.run(["kill", "-9", str(pid)], check=False)
            process.kill()


def state_of(pid: int, start: str, boot: str = "") -> dict[str, Any]:
    return {"boot": boot or boot_id(), "replicas": [{"pid": pid, "start": start}]}


def test_recorded_process_and_its_session_are_ended() -> None:
    with replica() as (process, child):
        state = state_of(process.pid, process_start(process.pid))
        assert end_leftovers(state) == sorted([process.pid, child])
        assert process.wait(5) != 0 and process_start(child) == ""
        assert end_leftovers(state) == []


def test_rest_of_a_session_is_ended_whose_leader_has_ended() -> None:
    with replica() as (process, child):
        start = process_start(process.pid)
        process.kill()
        process.wait(5)
        assert end_leftovers(state_of(process.pid, start)) == [child]


@pytest.mark.parametrize("wrong", ["start", "boot", "no start", "no boot", "init"])
def test_process_that_is_not_verified_is_left_alone(wrong: str) -> None:
    with replica() as (process, child):
        start = process_start(process.pid)
        state = {
            "start": state_of(process.pid, str(int(start) + 1)),
            "boot": state_of(process.pid, start, "another boot"),
            "no start": state_of(process.pid, ""),
            "no boot": state_of(process.pid, start) | {"boot": ""},
            "init": state_of(1, process_start(1)),
        }[wrong]
        assert end_leftovers(state) == []
        time.sleep(0.1)
        assert process.poll() is None and process_start(child)
