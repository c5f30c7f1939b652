"""A user's own memories: import paths, tables in memflow.toml, and entry points of installed packages.

The entry point group is `memflow.memories`, as for the systems that ship with memflow (systems.py). registry.py
resolves names to configured memories.
"""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memflow.entry_points import MEMORIES, installed, is_ours, package_of
from memflow.errors import BadSettings
from memflow.fingerprint import digest
from memflow.memories.main_code import MAIN
from memflow.memories.server.config import ServerConfig

if TYPE_CHECKING:
    from memflow.memories.memory import Memory

LAUNCHERS = {"env", "npx", "uvx", "node", "python", "python3"}
"""Words of a command that do not say what it starts."""
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+[0-9]*")


@dataclass(frozen=True)
class UserMemory:
    """A memory that a user declares: a class, a shipped system or a memory server, and parameter values.

    A class is given by `path`, a shipped system by `system`, and a memory server by `server`.
    `package` is the installed package that provides it, if any; `origin` names the place of its declaration. `fault` is
    the reason why it is unusable, if that is known without an import.
    """

    path: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    system: str = ""
    package: str = ""
    origin: str = "memflow.toml"
    fault: str = ""
    server: ServerConfig | None = None


def memory_name(path: str) -> str:
    """Return the memory name for an import path, its class name in snake case: `http_memory2` for `x:HTTPMemory2`."""
    return "_".join(word.lower() for word in _WORD.findall(path.rpartition(":")[2]))


def server_name(address: str) -> str:
    """Return the memory name for the address of a server: `server_127_0_0_1_9000` for `http://127.0.0.1:9000`.

    That of an MCP server begins with `mcp`. That of a command has its main words and a digest:
    `mcp_server_memory_7d793037` for `mcp:npx -y @modelcontextprotocol/server-memory`.
    """
    contract, target = "server", address
    if address.startswith("mcp:"):
        contract, _, target = address.partition(":")
    if contract == "mcp" and not target.startswith(("http://", "https://")):
        arguments = [word for word in target.split() if "=" not in word and not word.startswith("-")]
        names = [argument.rpartition("/")[2] for argument in arguments]
        main_words = [name for name in names if name not in LAUNCHERS]
        text = " ".join([*main_words, digest(address)[:8]])
    else:
        text = target.partition("://")[2]
    return "_".join([contract, *re.findall(r"[a-z0-9]+", text.lower())])


def load_memory(path: str) -> "type[Memory]":
    """Return the class at an import path. Raises BadSettings if it cannot be imported or is not a Memory."""
    from memflow.memories.memory import Memory  # noqa: PLC0415  (settings name memories and run none)

    module, colon, attribute = path.partition(":")
    if not (module and colon and attribute):
        raise BadSettings(f"{path!r} is not a valid import path. Use the form my_package.my_module:MyMemory.")
    try:
        memory = getattr(import_module(module), attribute)
    except Exception as error:  # a user's module may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise BadSettings(f"{path} cannot be imported: {reason}. Fix the module or the path.") from error
    if not (isinstance(memory, type) and issubclass(memory, Memory)):
        raise BadSettings(
            f"{path} is not a subclass of memflow.memories.memory.Memory. Derive the class from it."
        )
    if inspect.isabstract(memory):
        raise BadSettings(
            f"{path} does not define the methods {', '.join(sorted(memory.__abstractmethods__))}. Define them."
        )
    # A class without the decorator @dataclass leaves the dataclasses.Field of its parameters as attributes.
    fields_of_class: set[str] = set()
    for base in memory.__mro__:
        fields_of_class.update(name for name, value in vars(base).items() if isinstance(value, Field))
    without_decorator = sorted(fields_of_class - {parameter.name for parameter in fields(memory)})
    if without_decorator:
        raise BadSettings(
            f"{path}: the class is not a dataclass, so {', '.join(without_decorator)} cannot be a parameter. Put "
            "@dataclass above the class."
        )
    return memory


@cache
def installed_memories() -> Mapping[str, UserMemory]:
    """Return the memories of other installed packages, by name, without importing them."""
    return entry_point_memories(point for point in installed(MEMORIES) if not is_ours(point))


def entry_point_memories(points: Iterable[EntryPoint]) -> dict[str, UserMemory]:
    """Return the memories of entry points, by name.

    A name that several packages provide is unusable.
    """
    memories: dict[str, UserMemory] = {}
    for point in points:
        package = package_of(point)
        memory = UserMemory(point.value, package=package, origin=f"package {package}")
        existing = memories.get(point.name)
        if existing is not None and (existing.path, existing.package) != (memory.path, memory.package):
            packages = f"{existing.package} and {package}"
            memory = replace(
                existing,
                package=packages,
                origin=f"packages {packages}",
                fault="several packages declare a memory with this name. Uninstall all but one.",
            )
        memories[point.name] = memory
    return memories


@cache
def source_files(memory: "type[Memory]") -> tuple[tuple[str, str], ...]:
    """Return (name, text) of each source file of a user memory, for its fingerprint; empty for a shipped system.

    For a module in a package, all Python files and prompts of the package are returned; other imports are not followed.
    main_code.py describes classes of `__main__`.
    """
    from memflow.memories.memory import Memory  # noqa: PLC0415

    modules = {base.__module__ for base in memory.__mro__ if issubclass(base, Memory)}
    texts: dict[str, str] = {}
    for name in sorted(module for module in modules if module.partition(".")[0] not in ("memflow", MAIN)):
        package = name.rpartition(".")[0]
        if package:
            texts.update(_texts(files(package), f"{package}/"))
        else:
            file = getattr(sys.modules.get(name), "__file__", None)
            texts[name] = Path(file).read_text(encoding="utf-8") if file else ""
    return tuple(texts.items())


def _texts(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _texts(item, f"{prefix}{item.name}/")
        elif item.name.endswith((".py", ".md")):
            yield f"{prefix}{item.name}", item.read_text(encoding="utf-8")
