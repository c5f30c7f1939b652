"""The check of a memory: a server of the settings or of a command, or one written in Python."""

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memflow.concurrency import run_coroutine
from memflow.errors import BadSettings

if TYPE_CHECKING:
    from memflow.resources.memory_servers.check_lines import CheckLine
    from memflow.resources.memory_servers.connection import ServerConnection
    from memflow.resources.models.models import Models
    from memflow.resources.settings.own_sections import OwnMemory
    from memflow.resources.settings.settings import Settings

SERVER = "server"
"""The name of a memory server that is given as a command."""


def check_server_command(own: "OwnMemory") -> "list[CheckLine]":
    """Check the memory server of a command, without models."""
    from memflow.resources.memory_servers.declaration import check_command
    from memflow.resources.memory_servers.server_checks import check_server

    check_command("", own)
    with tempfile.TemporaryDirectory(prefix="memflow-check-") as folder:
        lines, _ = run_coroutine(check_server(_connect(SERVER, own, Path(folder))))
        return lines


def _connect(name: str, own: "OwnMemory", home: Path, **options: Any) -> "Callable[[], ServerConnection]":
    """Return a function that starts a memory server; each start has a log of its own."""
    from memflow.resources.memory_servers.declaration import open_server

    starts = count()
    return lambda: open_server(name, own, home, log=f"{name}/check.{next(starts)}", **options)


def check_named_server(settings: "Settings", name: str, budget: Any = None) -> "list[CheckLine]":
    """Check a memory server of the settings with the models that it is given, and store the result."""
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.memory_servers.declaration import check_command
    from memflow.resources.models.models import Models

    own = settings.memories[name]
    if own.command:
        check_command(name, own)
    settings.home.mkdir(parents=True, exist_ok=True)
    with Models(settings, SqlLedger(settings.ledger_url), budget) as models:
        return check_memory_server(models, name, own)


def check_memory_server(models: "Models", name: str, own: "OwnMemory") -> "list[CheckLine]":
    """Check the memory server `name`, and store the result. Its requests to models are in the ledger."""
    from memflow.chat.ledger import RequestContext
    from memflow.resources.memory_servers.declaration import store_check
    from memflow.resources.memory_servers.server_checks import check_server

    account, home = (
        RequestContext(run="memories check", stage="memories", assistant=name),
        models.settings.home,
    )

    async def work(chats: Any) -> "list[CheckLine]":
        access = await chats.clients.model_access(account, name, {}, await chats.embedder())
        proxy = await chats.clients.model_proxy()
        proxy.admit(access)
        try:
            lines, server = await check_server(_connect(name, own, home, access=access))
        finally:
            proxy.withdraw(access)
        if server.greeting is not None:
            store_check(name, own, home, server.greeting, lines)
        return lines

    return models.run(account, work)


def check_python_memory(settings: "Settings", name: str) -> "list[CheckLine]":
    """Check a memory written in Python, with its models."""
    from memflow.chat.ledger import RequestContext
    from memflow.memories.registry import find
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.memory_servers.server_checks import check_python
    from memflow.resources.models.models import Models
    from memflow.resources.settings.prompt_folders import activate_prompts

    memory = find(name, settings.own_memories())
    if not memory.system.memory.needs_playing:
        raise BadSettings(
            f"nothing is written to the memory {name}, so there is nothing to check. Choose another."
        )
    activate_prompts(settings)
    settings.home.mkdir(parents=True, exist_ok=True)

    async def check(chats: Any) -> "list[CheckLine]":
        return await check_python(memory.factory(await chats.tools(name)))

    with Models(settings, SqlLedger(settings.ledger_url)) as models:
        return models.run(RequestContext(run="memories check", stage="memories", assistant=name), check)
