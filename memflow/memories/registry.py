"""Resolution of memory names, such as `rag_2_4_30`, to the configuration of a Memory.

A name is a system and, optionally, its numbers in order. Names are partition keys: small letters, digits, underscores.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memflow.chat.scripted import Handler
from memflow.errors import BadSettings, MemflowError
from memflow.fingerprint import digest
from memflow.memories.design import Design
from memflow.memories.entries import EntryStore
from memflow.memories.main_code import MAIN, main_code
from memflow.memories.memory import Memory, Tools
from memflow.memories.server.config import ServerConfig
from memflow.memories.server.memory import ServerMemory
from memflow.memories.systems import SYSTEMS, Parameter, System
from memflow.memories.user_memories import UserMemory, load_memory, source_files
from memflow.suggestions import unknown_name

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class MemoryConfig:
    """The configuration of a memory: its name, its system and the value of every parameter."""

    name: str
    system: System
    values: Mapping[str, Any]
    server: ServerConfig | None = None
    """The declaration of the memory server, if the memory is one."""

    def factory(self, tools: Tools) -> Callable[[EntryStore], Memory]:
        """Return a function that creates the memory on a store.

        Raises BadSettings if a tool or a package that it needs is missing.
        """
        self.check_requirements()
        missing_tool = None
        if self.system.needs_embedder and tools.embedder is None:
            missing_tool = "an embedder"
        elif self.system.needs_chat and tools.chat is None:
            missing_tool = "a chat model"
        elif self.server is not None and tools.server is None:
            missing_tool = "a connection to its memory server"
        if missing_tool is not None:
            raise BadSettings(
                f"the memory {self.name} needs {missing_tool}, but none is configured. Configure one in memflow.toml."
            )
        return lambda store: self.system.memory(store, tools, **self.values)

    @property
    def design(self) -> Design:
        """What the memory does on purpose with these parameters. A memory server declares it in its greeting."""
        return self.system.memory(**self.values).design

    @property
    def forgets(self) -> frozenset[str]:
        """The forms of requests to forget that the memory obeys; of a server, those of its last answer to `hello`."""
        if self.server is None:
            return self.system.memory.forgets
        forms = frozenset[str](self.server.hello.can.forget if self.server.hello is not None else ())
        return forms | ({"time"} if "message" in forms else set())

    def check_requirements(self) -> None:
        """Raise BadSettings if a package that the memory needs is missing."""
        if package := self.system.missing_requirement:
            extra = self.system.memory.requires
            raise BadSettings(f"the memory {self.name} needs {package}. Install it: pip install '{extra}'")

    def fingerprint(self) -> str:
        """Return the digest of the memory's class, version, prompts and parameters; for a user memory, also its code.

        For a memory server, the digest includes its declaration and its last answer to `hello`. The chat model and the
        embedder have separate fingerprints.
        """
        memory = self.system.memory
        prompts = {prompt.name: prompt.digest for prompt in self.system.prompts}
        code = [*source_files(memory)]
        if (of_main := main_code(memory)) is not None:
            code.append((MAIN, of_main.text))
        server = [self.server.fingerprint()] if self.server is not None else []
        return digest(
            memory.__module__, memory.__qualname__, memory.version, prompts, dict(self.values), code, *server
        )


def handlers(user_memories: Mapping[str, UserMemory] | None = None) -> dict[str, Handler]:
    """Return the scripted chat's handlers for the prompts of every usable system, by prompt name."""
    configs = resolve_user_memories(user_memories or {}).values()
    user_systems = [config.system for config in configs if isinstance(config, MemoryConfig)]
    handlers: dict[str, Handler] = {}
    for system in (*shipped_systems(), *user_systems):
        handlers |= system.memory.handlers()
    return handlers


def shipped_systems() -> list[System]:
    """Return all systems that ship with memflow."""
    return list(SYSTEMS.values())


def find(name: str, user_memories: Mapping[str, UserMemory] | None = None) -> MemoryConfig:
    """Return the configuration of the memory `name`, shipped or user-defined. Raises BadSettings with similar names.

    A shipped name has priority over the same name in an installed package.
    """
    _check_name(name)
    user_memories = user_memories or {}
    shipped = _shipped_memory(name)
    if name in user_memories and not (shipped and user_memories[name].package):
        return _user_memory(name, user_memories[name], user_memories)
    if shipped is not None:
        return shipped
    names = {*user_memories}
    for system in SYSTEMS.values():
        names |= {system.name, system.default_name}
    raise BadSettings(unknown_name("memory", name, names, "memflow memories"))


def resolve_user_memories(user_memories: Mapping[str, UserMemory]) -> dict[str, MemoryConfig | BadSettings]:
    """Return the configuration of each of the user's memories, by name, or the error that makes it unusable."""
    configs: dict[str, MemoryConfig | BadSettings] = {}
    for name, user_memory in user_memories.items():
        try:
            _check_name(name)
            configs[name] = _user_memory(name, user_memory, user_memories)
        except BadSettings as error:
            configs[name] = error
    return configs


def memory_factory(
    name: str, tools: Tools, user_memories: Mapping[str, UserMemory] | None = None
) -> Callable[[EntryStore], Memory]:
    """Return a function that creates the memory with this name on a store."""
    return find(name, user_memories).factory(tools)


def fingerprint(name: str, user_memories: Mapping[str, UserMemory] | None = None) -> str:
    """Return the digest of a memory; two names of the same memory have the same digest."""
    return find(name, user_memories).fingerprint()


def _shipped_memory(name: str) -> MemoryConfig | None:
    """Return the configuration of a shipped memory; None for another name. Raises BadSettings for missing numbers."""
    for system_name in SYSTEMS:
        match = re.fullmatch(rf"{system_name}((?:_(?:0|[1-9]\d*))*)", name)
        if match is None:
            continue
        system = SYSTEMS[system_name]
        numbers = [int(number) for number in match[1].split("_")[1:]]
        if len(numbers) not in (0, len(system.numbers)):
            expected_count = len(system.numbers) or "none"
            raise BadSettings(
                f"the memory name {name} has {len(numbers)} numbers instead of {expected_count}. Use the form "
                f"{system.pattern}."
            )
        return _configure(name, system, dict(zip(system.numbers, numbers, strict=False)))
    return None


def _user_memory(name: str, user_memory: UserMemory, user_memories: Mapping[str, UserMemory]) -> MemoryConfig:
    """Return the configuration of a user's memory. Raises BadSettings, with its name and package, if it is unusable."""
    label = f"the memory {name}" + (f" of the package {user_memory.package}" if user_memory.package else "")
    if _shipped_memory(name) is not None:
        raise BadSettings(f"{label} has the name of a built-in memory. Rename it in memflow.toml.")
    defaults: dict[str, Any] = {}
    try:
        if user_memory.fault:
            raise BadSettings(user_memory.fault)
        if user_memory.system:
            classes = {key: memory for key, memory in user_memories.items() if not memory.system}
            base = find(user_memory.system, classes)
            system = replace(base.system, name=name, numbers=())
            defaults = {parameter.name: base.values[parameter.name] for parameter in system.parameters}
        elif user_memory.server is not None:
            system = System(name, ServerMemory, "a memory server of your own")
        else:
            system = System(name, load_memory(user_memory.path), "of your own")
        _ = system.prompts  # parse them now, so that a malformed prompt is reported before a run
    except MemflowError as error:
        raise BadSettings(f"{label}: {error}") from error
    return replace(
        _configure(name, system, {**defaults, **user_memory.parameters}), server=user_memory.server
    )


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadSettings(
            f"the memory name {name!r} is invalid. Use lowercase letters, digits and _, and start with a letter."
        )


def _configure(name: str, system: System, settings: Mapping[str, Any]) -> MemoryConfig:
    """Return the configuration of a system with `settings` in place of defaults. Raises BadSettings."""
    parameters = {parameter.name: parameter for parameter in system.parameters}
    values = {parameter.name: parameter.default for parameter in parameters.values()}
    for key, value in settings.items():
        if key not in parameters:
            command = f"memflow memories {name}"
            raise BadSettings(unknown_name("parameter", key, parameters, command, owner=f"the memory {name}"))
        values[key] = _parse_value(f"the memory {name}: {key}", value, parameters[key])
    return MemoryConfig(name, system, {**values, **system.fixed})


def _parse_value(label: str, value: Any, parameter: Parameter) -> Any:
    """Return the value of a parameter. Raises BadSettings for another type, or a value out of range or choices."""
    expected_type = type(parameter.default)
    if expected_type is float and type(value) is int:
        value = float(value)
    if expected_type is tuple and isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = tuple(value)
    if type(value) is not expected_type:
        raise BadSettings(
            f"{label} has the invalid value {value!r}. Set a value of type {expected_type.__name__}."
        )
    if isinstance(value, int | float) and value < parameter.low:
        raise BadSettings(f"{label} is {value}, below the minimum. Set at least {parameter.low}.")
    if parameter.high is not None and value > parameter.high:
        raise BadSettings(f"{label} is {value}, above the maximum. Set at most {parameter.high}.")
    words = value if isinstance(value, tuple) else (value,)
    if parameter.choices and not set(words) <= set(parameter.choices):
        raise BadSettings(f"{label} has the invalid value {value!r}. Use {', '.join(parameter.choices)}.")
    return value
