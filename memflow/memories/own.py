"""A user's own memories: where they are named, and what makes a class one of them.

Three ways lead in: an import path on the command line, a line in memflow.toml, and an entry point of an installed
package (group `memflow.memories`; its name is the memory's). What a name stands for, registry.py says.
"""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memflow.errors import BadSettings

if TYPE_CHECKING:
    from memflow.memories.memory import Memory

GROUP = "memflow.memories"
"""The entry point group of installed packages."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+[0-9]*")


@dataclass(frozen=True)
class Own:
    """A memory of a user's own: a class (`path`) or a known system (`system`), and values of its parameters.

    `package` is the installed package that offers it, if one does; `origin`, who names it, for lists; `wrong`, why it
    cannot be had, if that is known without importing it.
    """

    path: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    system: str = ""
    package: str = ""
    origin: str = "memflow.toml"
    wrong: str = ""


def name_of(path: str) -> str:
    """The name of a memory that is given by its import path alone: its class in snake case.

    `my_package.my_module:MyMemory` is my_memory, `x:HTTPMemory2` is http_memory2.
    """
    return "_".join(word.lower() for word in _WORD.findall(path.rpartition(":")[2]))


def load(path: str) -> "type[Memory]":
    """The class at an import path. Raises BadSettings saying why it is no memory."""
    from memflow.memories.memory import Memory  # noqa: PLC0415  (settings name memories and run none)

    module, colon, attribute = path.partition(":")
    if not (module and colon and attribute):
        raise BadSettings(f"{path!r} is no import path; write my_package.my_module:MyMemory")
    try:
        memory = getattr(import_module(module), attribute)
    except Exception as wrong:  # whatever another's module raises when it is imported
        raise BadSettings(f"{path} cannot be imported: {type(wrong).__name__}: {wrong}") from wrong
    if not (isinstance(memory, type) and issubclass(memory, Memory)):
        raise BadSettings(f"{path} is no subclass of memflow.memories.memory.Memory")
    if inspect.isabstract(memory):
        raise BadSettings(f"{path} has no {' and no '.join(sorted(memory.__abstractmethods__))}")
    known = {each.name for each in fields(memory)}
    named = {
        name for base in memory.__mro__ for name, value in vars(base).items() if isinstance(value, Field)
    }
    strays = sorted(named - known)
    if strays:
        raise BadSettings(f"{path}: {', '.join(strays)} is no parameter yet; put @dataclass above the class")
    return memory


@cache
def installed() -> Mapping[str, Own]:
    """What installed packages offer, by name. Nothing of theirs is imported."""
    return offered(entry_points(group=GROUP))


def offered(points: Iterable[EntryPoint]) -> dict[str, Own]:
    """The memories of entry points, by name. One that several packages offer is nobody's."""
    found: dict[str, Own] = {}
    for point in points:
        package = f"{point.dist.name} {point.dist.version}" if point.dist else "of unknown name"
        offer = Own(point.value, package=package, origin=f"package {package}")
        other = found.get(point.name)
        if other is not None and (other.path, other.package) != (offer.path, offer.package):
            both = f"{other.package} and {package}"
            offer = replace(other, package=both, origin=f"packages {both}", wrong="several packages offer it")
        found[point.name] = offer
    return found


@cache
def sources(memory: "type[Memory]") -> tuple[tuple[str, str], ...]:
    """What a memory of one's own is written in, as (name, text): nothing for one that ships with memflow.

    For the fingerprint, which has to change with the code. A module that lies in a package stands for all Python
    files and prompts of that package; what it imports from elsewhere is not looked at.
    """
    from memflow.memories.memory import Memory  # noqa: PLC0415

    modules = {base.__module__ for base in memory.__mro__ if issubclass(base, Memory)}
    found: dict[str, str] = {}
    for name in sorted(module for module in modules if module.partition(".")[0] != "memflow"):
        package = name.rpartition(".")[0]
        if package:
            found.update(_texts(files(package), f"{package}/"))
        else:
            file = getattr(sys.modules.get(name), "__file__", None)
            found[name] = Path(file).read_text(encoding="utf-8") if file else ""
    return tuple(found.items())


def _texts(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _texts(item, f"{prefix}{item.name}/")
        elif item.name.endswith((".py", ".md")):
            yield f"{prefix}{item.name}", item.read_text(encoding="utf-8")
