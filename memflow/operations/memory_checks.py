"""The check of a memory (a server of the settings or of a command, or one written in Python), and a served memory."""

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memflow.concurrency import run_coroutine
from memflow.errors import BadSettings

if TYPE_CHECKING:
    from memflow.memories.entries import EntryStore
    from memflow.memories.memory import Memory
    from memflow.resources.memory_servers.check_lines import CheckLine
    from memflow.resources.settings.own_sections import OwnMemory
    from memflow.resources.settings.settings import Settings

T = TypeVar("T")
SERVER = "server"
"""The name of a memory server that is given as a command."""


def check_server_command(own: "OwnMemory") -> "list[CheckLine]":
    """Check the memory server of a command, without models."""
    from memflow.resources.memory_servers.declaration import check_command, open_server
    from memflow.resources.memory_servers.server_checks import ServerChecks

    if wrong := check_command(SERVER, own):
        raise BadSettings(wrong.replace(f"`command` of [memories.{SERVER}]", "the command"))
    with tempfile.TemporaryDirectory(prefix="memflow-check-") as folder:
        starts = iter(range(1000))
        checks = ServerChecks(
            lambda: open_server(SERVER, own, Path(folder), log=f"{SERVER}/check.{next(starts)}")
        )
        return run_coroutine(checks.run())


def check_named_server(settings: "Settings", name: str, budget: Any = None) -> "list[CheckLine]":
    """Check a memory server of the settings with the models that it is given, and store the result."""
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.memory_servers.declaration import check_command
    from memflow.resources.models.memory_check import check_memory_server
    from memflow.resources.models.models import Models

    own = settings.memories[name]
    if own.command and (wrong := check_command(name, own)):
        raise BadSettings(wrong)
    settings.home.mkdir(parents=True, exist_ok=True)
    with Models(settings, SqlLedger(settings.ledger_url), budget) as models:
        return check_memory_server(models, name, own)


def check_python_memory(settings: "Settings", name: str) -> "list[CheckLine]":
    """Check a memory written in Python."""
    from memflow.resources.memory_servers.python_checks import PythonChecks

    return _with_memory(settings, name, "check", lambda create: PythonChecks(create).run())


def serve_memory(
    settings: "Settings",
    name: str,
    port: int,
    key: str,
    hosts: Sequence[str],
    announce: Callable[[str], object],
) -> None:
    """Serve a memory by the contract of memory_servers/aml.py, until the process is interrupted.

    `announce` is called with the address. Raises BadInput if the port or the journal is in use.
    """
    from memflow.resources.memory_servers.aml_journal import Journal
    from memflow.resources.memory_servers.aml_server import AmlServer, running_server
    from memflow.resources.memory_servers.declaration import FOLDER

    async def work(create: "Callable[[EntryStore], Memory]") -> None:
        with closing(Journal(settings.home / FOLDER / "served" / f"{name}.sqlite")) as journal:
            async with running_server(AmlServer(create, journal), port, key, hosts) as url:
                announce(url)
                await asyncio.Event().wait()

    _with_memory(settings, name, "serve", work)


def _with_memory(
    settings: "Settings",
    name: str,
    command: str,
    work: "Callable[[Callable[[EntryStore], Memory]], Coroutine[Any, Any, T]]",
) -> T:
    """Return the result of `work` with a function that creates the memory on a store, with its models."""
    from memflow.chat.ledger import RequestContext
    from memflow.memories.registry import find
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.models.models import Models
    from memflow.resources.settings.prompt_folders import activate_prompts

    memory = find(name, settings.own_memories())
    if not memory.system.memory.needs_playing:
        raise BadSettings(
            f"nothing is written to the memory {name}, so there is nothing to {command}. Choose another."
        )
    activate_prompts(settings)
    settings.home.mkdir(parents=True, exist_ok=True)

    async def session(chats: Any) -> T:
        return await work(memory.factory(await chats.tools(name)))

    with Models(settings, SqlLedger(settings.ledger_url)) as models:
        return models.run(
            RequestContext(run=f"memories {command}", stage="memories", assistant=name), session
        )
