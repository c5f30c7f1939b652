"""Names of memory systems: what there is, and `rag_2_4_30` -> a Memory on a store.

A name is a system and, after it, values of its parameters in order; the rest keep their defaults. It has to
be a partition key, so it holds small letters, digits and underscores. A user's own memory has a name of its
own choice (own.py). Which memories a run takes is the settings' business.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memflow.chat.scripted import Handler
from memflow.errors import BadSettings, MemflowError
from memflow.fingerprint import digest
from memflow.memories.entries import EntryStore
from memflow.memories.memory import Memory, Tools
from memflow.memories.own import Own, load, sources
from memflow.memories.system import Parameter, System
from memflow.memories.systems import SYSTEMS

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class MemoryConfig:
    """What a name stands for: a system, and every parameter's value."""

    name: str
    system: System
    values: Mapping[str, Any]

    def remember(self, tools: Tools) -> Callable[[EntryStore], Memory]:
        """What makes the memory on a store. Raises BadSettings where a tool or a package it needs is missing."""
        self.ready()
        for needed, tool, what in (
            (self.system.needs_embedder, tools.embedder, "an embedder"),
            (self.system.needs_chat, tools.chat, "a chat model"),
        ):
            if needed and tool is None:
                raise BadSettings(f"the memory {self.name} needs {what}, and was given none")
        return lambda store: self.system.memory(store, tools, **self.values)

    def ready(self) -> None:
        """Raise BadSettings where a package that it needs is missing."""
        if self.system.lacks:
            how = f"uv pip install {self.system.memory.requires}"
            raise BadSettings(f"the memory {self.name} needs {self.system.lacks}: {how}")

    def fingerprint(self) -> str:
        """Digest of class, version, prompts and parameters, and of the code where it is a user's own.

        The tools have fingerprints of their own.
        """
        memory = self.system.memory
        prompts = {prompt.name: prompt.digest for prompt in self.system.prompts}
        written = [*sources(memory)]
        return digest(
            memory.__module__, memory.__qualname__, memory.version, prompts, dict(self.values), written
        )


def handlers(own: Mapping[str, Own] | None = None) -> dict[str, Handler]:
    """The scripted chat's handlers for the prompts of every system, a user's own among them, by prompt name.

    One that cannot be had has none: asking for it says why.
    """
    systems = [
        *describe(),
        *(mine.system for mine in looked_up(own or {}).values() if isinstance(mine, MemoryConfig)),
    ]
    return {prompt: handler for system in systems for prompt, handler in system.memory.handlers().items()}


def describe() -> list[System]:
    """Every system that ships with memflow."""
    return list(SYSTEMS.values())


def find(name: str, own: Mapping[str, Own] | None = None) -> MemoryConfig:
    """What `name` stands for: ours, or one of a user's own. Raises BadSettings saying what there is.

    An installed package cannot take the name of one of ours: that still stands for ours.
    """
    _well_formed(name)
    own = own or {}
    ours = _ours(name)
    if name in own and not (ours and own[name].package):
        return _own(name, own[name], own)
    if ours is not None:
        return ours
    known = ", ".join([*(system.pattern for system in SYSTEMS.values()), *own])
    raise BadSettings(f"there is no memory {name!r}; there are {known}")


def looked_up(own: Mapping[str, Own]) -> dict[str, MemoryConfig | BadSettings]:
    """What each of a user's own stands for, or why it cannot be had: one that is broken hides no other."""
    found: dict[str, MemoryConfig | BadSettings] = {}
    for name, mine in own.items():
        try:
            _well_formed(name)
            found[name] = _own(name, mine, own)
        except BadSettings as wrong:
            found[name] = wrong
    return found


def remember(name: str, tools: Tools, own: Mapping[str, Own] | None = None) -> Callable[[EntryStore], Memory]:
    """What makes the memory of that name on a store: for the player and for answering."""
    return find(name, own).remember(tools)


def fingerprint(name: str, own: Mapping[str, Own] | None = None) -> str:
    """Digest of what the name stands for: two names of the same memory share it."""
    return find(name, own).fingerprint()


def _ours(name: str) -> MemoryConfig | None:
    for system in SYSTEMS.values():
        given = re.fullmatch(rf"{system.name}((?:_(?:0|[1-9]\d*))*)", name)
        if given is None:
            continue
        numbers = [int(number) for number in given[1].split("_")[1:]]
        if len(numbers) not in (0, len(system.numbers)):
            wanted = len(system.numbers) or "none"
            raise BadSettings(
                f"{name}: {len(numbers)} numbers after the name; {system.pattern} takes {wanted}"
            )
        return _recipe(name, system, dict(zip(system.numbers, numbers, strict=False)))
    return None


def _own(name: str, mine: Own, own: Mapping[str, Own]) -> MemoryConfig:
    what = f"the memory {name}" + (f" of the package {mine.package}" if mine.package else "")
    if _ours(name) is not None:
        raise BadSettings(f"{what} has the name of one of ours; give it another in memflow.toml")
    given: dict[str, Any] = {}
    try:
        if mine.wrong:
            raise BadSettings(mine.wrong)
        if mine.system:
            base = find(mine.system, {other: each for other, each in own.items() if not each.system})
            system = replace(base.system, name=name, numbers=())
            given = {each.name: base.values[each.name] for each in system.parameters}
        else:
            memory = load(mine.path)
            system = System(name, memory, (memory.__doc__ or "").strip().partition("\n")[0], "of your own")
        _ = system.prompts  # read now, so that a malformed one is told before anything is played
    except MemflowError as wrong:
        raise BadSettings(f"{what}: {wrong}") from wrong
    return _recipe(name, system, {**given, **mine.parameters})


def _well_formed(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadSettings(f"a memory's name is small letters, digits and _, a letter first; {name!r} is not")


def _recipe(name: str, system: System, given: Mapping[str, Any]) -> MemoryConfig:
    known = {parameter.name: parameter for parameter in system.parameters}
    values = {parameter.name: parameter.default for parameter in known.values()}
    for key, value in given.items():
        if key not in known:
            takes = ", ".join(known) or "none"
            raise BadSettings(f"the memory {name} has no parameter {key!r}; it takes {takes}")
        values[key] = _checked(f"the memory {name}: {key}", value, known[key])
    return MemoryConfig(name, system, {**values, **system.fixed})


def _checked(what: str, value: Any, known: Parameter) -> Any:
    wanted = type(known.default)
    if wanted is float and type(value) is int:
        value = float(value)
    if wanted is tuple and isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = tuple(value)
    if type(value) is not wanted:
        raise BadSettings(f"{what} is of type {wanted.__name__}, not {value!r}")
    if isinstance(value, int | float) and value < known.low:
        raise BadSettings(f"{what} is at least {known.low}, not {value}")
    if known.high is not None and value > known.high:
        raise BadSettings(f"{what} is at most {known.high}, not {value}")
    words = value if isinstance(value, tuple) else (value,)
    if known.choices and not set(words) <= set(known.choices):
        raise BadSettings(f"{what} is one of {', '.join(known.choices)}, not {value!r}")
    return value
