"""The check of a memory: a server of the settings or of a command, or one written in Python."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memflow.concurrency import run_coroutine
from memflow.errors import BadSettings

if TYPE_CHECKING:
    from memflow.resources.memory_servers.check_lines import CheckLine
    from memflow.resources.settings.own_sections import OwnMemory
    from memflow.resources.settings.settings import Settings

SERVER = "server"
"""The name of a memory server that is given as a command."""


def check_server_command(own: "OwnMemory") -> "list[CheckLine]":
    """Check the memory server of a command, without models."""
    from memflow.resources.memory_servers.declaration import check_command, open_server
    from memflow.resources.memory_servers.server_checks import check_server

    check_command("", own)
    with tempfile.TemporaryDirectory(prefix="memflow-check-") as folder:
        starts = iter(range(1000))
        lines, _ = run_coroutine(
            check_server(lambda: open_server(SERVER, own, Path(folder), log=f"{SERVER}/check.{next(starts)}"))
        )
        return lines


def check_named_server(settings: "Settings", name: str, budget: Any = None) -> "list[CheckLine]":
    """Check a memory server of the settings with the models that it is given, and store the result."""
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.memory_servers.declaration import check_command
    from memflow.resources.models.memory_check import check_memory_server
    from memflow.resources.models.models import Models

    own = settings.memories[name]
    if own.command:
        check_command(name, own)
    settings.home.mkdir(parents=True, exist_ok=True)
    with Models(settings, SqlLedger(settings.ledger_url), budget) as models:
        return check_memory_server(models, name, own)


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
