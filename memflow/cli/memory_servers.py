"""Notes on memory servers whose model requests are not in the usage, or not in a forecast."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memflow.memories.server.config import OWN_MODELS
from memflow.repeats import memory_name

if TYPE_CHECKING:
    from resources.settings.settings import Settings


def servers_with_own_models(settings: "Settings") -> list[str]:
    """Return the memory servers of the settings that call models at their own addresses, as they last declared."""
    own = settings.own_memories()
    return [name for name, each in own.items() if each.server is not None and each.server.has_own_models]


def memory_server_notes(settings: "Settings", assistants: Iterable[str]) -> list[str]:
    """Return a note for each memory server of the assistants: why its requests are not in the forecast."""
    own, notes = settings.own_memories(), []
    for name in dict.fromkeys(memory_name(assistant) for assistant in assistants):
        server = own[name].server if name in own else None
        if server is None or (server.hello is not None and server.hello.can.models == "none"):
            continue
        if server.hello is None:
            notes.append(f"{name} is a memory server that was not started yet, so its requests are not known")
        elif server.has_own_models:
            notes.append(f"{name}: {OWN_MODELS}")
        else:
            notes.append(f"requests of the memory server {name} through the model proxy are not counted here")
    return notes


def planned_checks(settings: "Settings", assistants: Iterable[str]) -> dict[str, str]:
    """Return the writes of the check of each memory server of assistants that a run would check first, in words."""
    from memflow.cli.required_checks import memory_servers_of
    from resources.memory_servers.declaration import read_hello
    from resources.memory_servers.server_checks import planned_writes
    from resources.memory_servers.stored_checks import has_passed

    planned = {}
    for name in memory_servers_of(settings, assistants):
        own, hello = settings.memories[name], read_hello(name, settings.home)
        if not own.unchecked and not has_passed(name, own, settings.home, hello):
            planned[name] = planned_writes(None if hello is None else hello.can)
    return planned
