"""The supervisor's files: rotated logs, ports, and states that a reader never sees in part."""

import os
import signal
import socket
import threading
import time
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest
from fake_vllm import fake_vllm, is_alive, starts, state_of, workers

from resources.configurable import VllmResource
from resources.settings.chat_models import Model
from resources.vllm_servers.servers import VllmServers
from resources.vllm_servers.shared import read_state, running_servers
from resources.vllm_servers.supervisor import LOGS, _rotate, free_port, write_json


def test_logs_of_former_starts_are_kept_up_to_a_number(tmp_path: Path) -> None:
    log = tmp_path / "replica_1.log"
    for number in range(LOGS + 3):
        _rotate(log)
        log.write_text(str(number))
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found == {
        "replica_1.log": str(LOGS + 2),
        **{f"replica_1.{number}.log": str(LOGS + 2 - number) for number in range(1, LOGS + 1)},
    }


def test_free_port_can_be_used() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", free_port()))


def test_reader_never_sees_a_part_of_a_state(tmp_path: Path) -> None:
    done = threading.Event()

    def write() -> None:
        for number in range(300):
            write_json(tmp_path / "state.json", {"status": "x" * 20_000, "number": number})
        done.set()

    write_json(tmp_path / "state.json", {"status": "first"})
    thread = threading.Thread(target=write)
    thread.start()
    while not done.is_set():
        assert read_state(tmp_path)["status"]
    thread.join()


def test_ended_supervisor_is_an_outage_and_the_next_use_starts_again(tmp_path: Path) -> None:
    model = Model(kind="vllm", model="tiny", executable=fake_vllm(tmp_path / "fake"), idle=0)
    with closing(VllmServers({"small": model}, tmp_path / "home")) as servers:
        servers.urls("small")
        (running,) = running_servers(tmp_path / "home")
        assert running["in use"] and running["status"] == "ready"
        os.kill(running["supervisor"], signal.SIGTERM)
        until = time.monotonic() + 20
        while running_servers(tmp_path / "home") and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.6)  # the state is read again
        outage = servers.outage("small")
        assert outage is not None and "was ended" in outage.reason and not outage.ends
        assert not any(map(is_alive, workers(tmp_path / "fake")))
    with closing(VllmServers({"small": model}, tmp_path / "home")) as servers:
        servers.urls("small")
    assert len(starts(tmp_path / "fake")) == 2


def test_runs_of_the_daemon_share_a_server_by_their_home(tmp_path: Path) -> None:
    fields = {"kind": "vllm", "model": "tiny", "executable": fake_vllm(tmp_path / "fake"), "idle": 600}
    resource = VllmResource(models={"small": fields}, home=str(tmp_path / "home"))
    urls = []
    for _ in range(2):  # each run of the daemon is a process that opens its resources
        with dg.build_resources({"vllm": resource}) as resources:
            urls.append(resources.vllm.urls("small"))
    assert urls[0] == urls[1] and len(starts(tmp_path / "fake")) == 1
    pid = state_of(tmp_path / "home")["pid"]
    assert isinstance(pid, int)
    os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + 20
    while any(map(is_alive, workers(tmp_path / "fake"))):
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_unreadable_state_is_no_state(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)
    assert read_state(tmp_path) == {}
