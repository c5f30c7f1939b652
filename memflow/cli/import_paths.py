"""Memories named by the import path of a class, or by the address of a memory server, on the command line."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memflow.errors import BadSettings

if TYPE_CHECKING:
    from memflow.memories.user_memories import UserMemory
    from memflow.resources.settings.settings import Settings


def own_memories(settings: "Settings", named: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the setting `memories` for the import paths and addresses in a list of memories and assistants.

    Raises BadSettings for an invalid import path, and for two classes with the same name.
    """
    paths = import_paths(named)
    for name, path in paths.items():
        mine = settings.own_memories().get(name)
        if mine is not None and mine.path != path:
            raise BadSettings(
                f"{path} has the name {name}, which {mine.path or mine.system} of {mine.origin} already "
                f'uses. Rename it in memflow.toml: [memories.NAME] path = "{path}"'
            )
    urls = [url for url in (assistant.partition("@")[0] for assistant in named) if is_address(url)]
    return {name: {"path": path} for name, path in paths.items()} | {
        address_name(url): {"url": url} for url in urls
    }


def own_of(settings: "Settings", named: Sequence[str]) -> tuple[dict[str, "UserMemory"], list[str]]:
    """Return the user memories of memflow.toml and of `named`, by name, and `named` with import paths replaced."""
    from memflow.memories.user_memories import UserMemory

    own_memories(settings, named)
    given = {name: UserMemory(path, origin="command line") for name, path in import_paths(named).items()}
    return {**given, **settings.own_memories()}, [assistant_name(name) for name in named]


def assistant_name(assistant: str) -> str:
    """Return an assistant's name, in which an import path or address is replaced by the name derived from it."""
    from memflow.memories.user_memories import memory_name

    memory, at, model = assistant.partition("@")
    if is_address(memory):
        return f"{address_name(memory)}{at}{model}"
    return f"{memory_name(memory)}{at}{model}" if ":" in memory else assistant


def is_address(memory: str) -> bool:
    """Return whether a memory is given by the address of a memory server."""
    return memory.startswith(("http://", "https://"))


def address_name(url: str) -> str:
    """Return the memory name for an address, such as `server_127_0_0_1_9000` for `http://127.0.0.1:9000`."""
    parts = urlsplit(url)
    return "_".join(["server", *re.findall(r"[a-z0-9]+", f"{parts.netloc}{parts.path}".lower())])


def import_paths(named: Sequence[str]) -> dict[str, str]:
    """Return the import paths in a list of memories and assistants, by derived memory name."""
    paths: dict[str, str] = {}
    for assistant in named:
        path = assistant.partition("@")[0]
        if ":" not in path or is_address(path):
            continue
        name = assistant_name(path)
        if not name:
            raise BadSettings(
                f"{path!r} is not a valid import path. Use the form my_package.my_module:MyMemory."
            )
        other = paths.setdefault(name, path)
        if other != path:
            raise BadSettings(
                f"{other} and {path} have the same name, {name}. Rename one in memflow.toml: "
                f'[memories.NAME] path = "{path}"'
            )
    return paths
