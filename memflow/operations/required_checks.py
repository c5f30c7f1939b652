"""Memory servers in a run and its plan: the checks that `memflow run` requires, and requests that are not counted."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from memflow.errors import BadSettings
from memflow.memories.server.config import OWN_MODELS
from memflow.operations.messages import message
from memflow.repeats import memory_name

if TYPE_CHECKING:
    from memflow.operations.selection import Selection
    from memflow.resources.settings.settings import Settings


def memory_servers_of(settings: "Settings", assistants: Iterable[str]) -> list[str]:
    """Return the names of the memory servers among the memories of assistants."""
    names = dict.fromkeys(map(memory_name, assistants))
    return [name for name in names if name in settings.memories and settings.memories[name].is_server]


def unchecked(settings: "Settings", assistants: Iterable[str]) -> list[str]:
    """Return the memory servers of assistants that run without a check."""
    return [name for name in memory_servers_of(settings, assistants) if settings.memories[name].unchecked]


def skip_checks(settings: "Settings") -> "Settings":
    """Return the settings with all memory servers unchecked."""
    memories = {
        name: own.model_copy(update={"unchecked": True}) if own.is_server else own
        for name, own in settings.memories.items()
    }
    return settings.model_copy(update={"memories": memories})


def run_required_checks(selection: "Selection", force: bool, budget: Any) -> None:
    """Check the memory servers that the run plays and that have no passed check. Raises BadSettings for a fault."""
    from memflow.operations.memory_checks import check_named_server
    from memflow.resources.memory_servers.declaration import greet, has_passed, read_hello
    from memflow.resources.memory_servers.server_checks import planned_writes

    settings = selection.settings
    for name in dict.fromkeys(_played(selection, force)):
        own = settings.memories[name]
        hello = greet(name, own, own.timeout.hello) if own.url else read_hello(name, settings.home)
        if own.unchecked or has_passed(name, own, settings.home, hello):
            continue
        writes = planned_writes(None if hello is None else hello.can)
        message(f"memflow: checking the memory server {name} ({writes}); --unchecked skips it.")
        wrong = [line for line in check_named_server(settings, name, budget) if line.verdict == "wrong"]
        if wrong:
            faults = " ".join(f"{line.check}: {line.found}. {line.fix}" for line in wrong)
            raise BadSettings(
                f"the memory server {name} is not measured, because its check found a fault. {faults} After a fix, "
                f"rerun; `memflow memories check {name}` shows all lines, and --unchecked runs it as it is."
            )


def servers_with_own_models(settings: "Settings") -> list[str]:
    """Return the memory servers of the settings that call models at their own addresses, as they last declared."""
    own = settings.own_memories()
    return [name for name, each in own.items() if each.server is not None and each.server.models == "own"]


def memory_server_notes(settings: "Settings", assistants: Iterable[str]) -> list[str]:
    """Return a note for each memory server of the assistants: why its requests are not in the forecast."""
    own, notes = settings.own_memories(), []
    for name in dict.fromkeys(memory_name(assistant) for assistant in assistants):
        server = own[name].server if name in own else None
        if server is None or (server.hello is not None and server.hello.can.models == "none"):
            continue
        if server.hello is None:
            notes.append(f"{name} is a memory server that was not started yet, so its requests are not known")
        elif server.models == "own":
            notes.append(f"{name}: {OWN_MODELS}")
        else:
            notes.append(f"requests of the memory server {name} through the model proxy are not counted here")
    return notes


def _played(selection: "Selection", force: bool) -> Iterator[str]:
    """Yield the memory server of each partition that is not up to date."""
    from memflow.assets.fingerprints import Fingerprints

    settings = selection.settings
    servers = memory_servers_of(settings, selection.assistants)
    if not servers:
        return
    fingerprints = Fingerprints.of(settings)
    for name in selection.domains:
        generated = not force and fingerprints.up_to_date("domain", settings.domain(name))
        for assistant in selection.assistants:
            memory = memory_name(assistant)
            if memory in servers and not (
                generated and fingerprints.up_to_date("domain x assistant", name, assistant)
            ):
                yield memory
