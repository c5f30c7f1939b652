"""The memory servers of a run: one connection per partition, which its steps share, and which ends with the run."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from echo_servers import echo_command

from memflow.chat.ledger import RequestContext
from memflow.errors import BadSettings, ServerDown
from memflow.memories.server.protocol import Connection
from memflow.operations.memory_checks import check_memory_server
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.memory_servers.connection import ServerConnection
from memflow.resources.memory_servers.declaration import read_hello
from memflow.resources.memory_servers.process import StdioTransport
from memflow.resources.models.models import Models
from memflow.resources.settings.settings import load

Open = Callable[..., Connection | None]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Models]:
    """Return the models of settings with memory servers."""
    monkeypatch.chdir(tmp_path)
    memories = {
        "echo": {"command": echo_command(), "unchecked": True},
        "new": {"command": echo_command()},
        "bad": {"command": ["python3", "missing.py"]},
        "broken": {"command": echo_command("no_such_fault")},
    }
    settings = load(over={"home": tmp_path / "home", "memories": memories})
    with closing(Models(settings, SqlLedger(settings.ledger_url))) as opened:
        yield opened


def server_of(models: Models, run: str, assistant: str, stage: str = "memories") -> Any:
    """Return the connection that a step of a run gets."""

    async def work(chats: Any) -> Connection | None:
        server: Connection | None = (await chats.tools(assistant)).server
        return server

    return models.run(RequestContext(run, stage, domain="amemgym_demo", assistant=assistant), work)


def pid_of(server: ServerConnection) -> int:
    """Return the process of a started server."""
    transport = server.transport
    assert isinstance(transport, StdioTransport)
    assert transport.process is not None
    return transport.process.pid


def has_ended(pid: int) -> bool:
    """Wait until a process has ended."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_steps_of_a_run_share_the_connection_of_their_partition(models: Models) -> None:
    server = server_of(models, "run-1", "echo")
    assert server is server_of(models, "run-1", "echo", "replies")
    other = server_of(models, "run-2", "echo")
    assert other is not server
    assert pid_of(other) != pid_of(server)


def test_server_ends_with_its_run_and_no_other_does(models: Models) -> None:
    server, other = (server_of(models, run, "echo") for run in ("run-1", "run-2"))
    pid, kept = pid_of(server), pid_of(other)
    models.end_run("run-1")
    assert has_ended(pid)
    os.kill(kept, 0)
    models.close()
    assert has_ended(kept)


def test_server_ends_if_the_models_close_while_a_run_ends(models: Models) -> None:
    pid = pid_of(server_of(models, "run-1", "echo"))
    models.end_run("run-1")
    models.close()
    assert has_ended(pid)


def test_memory_without_a_server_has_no_connection(models: Models) -> None:
    assert server_of(models, "run-1", "bm25_message") is None


def test_answer_to_hello_is_stored_for_planning(models: Models) -> None:
    assert models.settings.memory_of("echo").server is not None
    server_of(models, "run-1", "echo")
    stored = read_hello("echo", models.settings.home)
    assert stored is not None
    assert stored.name == "echo"
    declared = models.settings.memory_of("echo").server
    assert declared is not None
    assert declared.hello == stored


def test_server_that_cannot_be_started_ends_the_step(models: Models) -> None:
    with pytest.raises(BadSettings, match=r"missing.py. Fix `command` of \[memories.bad\]"):
        server_of(models, "run-1", "bad")
    with pytest.raises(ServerDown, match=r"ended with status 2.*unknown faults: no_such_fault"):
        server_of(models, "run-1", "broken")


def test_step_of_a_server_without_a_check_fails_and_names_the_command(models: Models) -> None:
    with pytest.raises(
        BadSettings, match=r"Run `memflow memories check new` and fix what it finds, or set `unchecked"
    ):
        server_of(models, "run-1", "new")
    lines = check_memory_server(models, "new", models.settings.memories["new"])
    assert [line for line in lines if line.verdict == "wrong"] == []
    assert server_of(models, "run-1", "new") is not None
