"""The arguments of `memflow.evaluate` and `Results`: memories, benchmarks and models, as the command line has them."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from memflow.benchmarks import registry
from memflow.errors import BadInput, BadSettings, StoreFailed
from memflow.memories.main_code import main_code
from memflow.memories.memory import Memory
from memflow.memories.user_memories import memory_name
from memflow.resources.endpoints.addresses import check_address
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.windows import served_models
from memflow.resources.files.disks import os_fault
from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.settings import Settings
from memflow.suggestions import MOST_NAMES, unknown_name

AnyMemory: TypeAlias = str | type[Memory] | Memory
"""A memory's name, import path or server address; a class; or an instance, whose fields are the parameters."""
AnyPath: TypeAlias = str | os.PathLike[str]
PATIENCE = 10.0
"""Seconds in which a server has to list its models."""
T = TypeVar("T")


def as_list(value: T | Sequence[T]) -> list[T]:
    """Return one value, or several, as a list."""
    return [*value] if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def as_path(path: AnyPath | None) -> Path | None:
    """Return a path with `~` expanded, or None for None. Raises BadInput for an empty text, as of an unset variable."""
    if path is not None and not os.fspath(path):
        raise BadInput("'' is no folder. Write a path, or . for the current folder.")
    return None if path is None else Path(path).expanduser()


@contextmanager
def explained_os_errors(home: Path) -> Iterator[None]:
    """Raise StoreFailed with the sentence of the command line for a full or read-only disk."""
    try:
        yield
    except OSError as error:
        if fault := os_fault(error, home):
            raise StoreFailed(fault) from error
        raise


def operand_name(memory: object) -> str:
    """Return the name, import path or address of a memory; for an instance with other parameters, a name with them.

    Raises BadInput for a value that is no memory, and for a class that is not found under its own name.
    """
    if isinstance(memory, str):
        return memory
    if isinstance(memory, type):
        return _import_path(memory)
    if not isinstance(memory, Memory):
        raise BadInput(
            f"{memory!r:.80} is no memory. Use a name, an import path, the address of a memory server, a subclass of "
            "memflow.memories.memory.Memory, or an instance of one."
        )
    changed = _changed_parameters(memory)
    if not changed:
        return _import_path(type(memory))
    words = (memory_name(type(memory).__qualname__), *(f"{name}_{value}" for name, value in changed.items()))
    return re.sub("[^a-z0-9]+", "_", "_".join(words).lower()).strip("_")


def own_tables(memories: Sequence[AnyMemory]) -> dict[str, dict[str, Any]]:
    """Return the tables [memories.NAME] of the instances whose parameters differ from the defaults, by NAME."""
    return {
        operand_name(memory): {"path": _import_path(type(memory)), "parameters": changed}
        for memory in memories
        if isinstance(memory, Memory) and (changed := _changed_parameters(memory))
    }


def _import_path(memory: type) -> str:
    path = f"{memory.__module__}:{memory.__qualname__}"
    if getattr(sys.modules.get(memory.__module__), memory.__qualname__, None) is memory:
        main_code(memory)  # refused before the first run, if it has no fingerprint
        return path
    raise BadInput(
        f"the class {memory.__qualname__} is not the one that {path} leads to: it is defined inside a function or "
        "class, or its cell ran again. Define it at the top level, and use the present class."
    )


def _changed_parameters(memory: Memory) -> dict[str, Any]:
    """Return the parameters of a memory, an instance of a dataclass, that differ from the defaults.

    Raises BadInput if another field was set: a run creates the memory from its class and its parameters.
    """
    parameters = [field for field in fields(memory) if "description" in field.metadata]
    plain = [field for field in fields(memory) if field not in parameters and field.default is not MISSING]
    ignored = [field.name for field in plain if getattr(memory, field.name) != field.default]
    if ignored:
        name = ignored[0]
        raise BadInput(
            f"the field {name} of {type(memory).__qualname__} is not declared as a parameter, so its value would be "
            f"ignored. Declare it: {name}: {type(getattr(memory, name)).__name__} = parameter(DEFAULT, "
            '"what it is"), with `parameter` of memflow.memories.memory.'
        )
    values = {field.name: getattr(memory, field.name) for field in parameters}
    return {field.name: values[field.name] for field in parameters if values[field.name] != field.default}


def named_domains(settings: Settings, benchmarks: str | Sequence[str]) -> list[str]:
    """Return the domains, with each benchmark's name replaced by the domains that it lists, without its demo.

    Raises BadSettings for an unknown name, and for a benchmark that lists no domains.
    """
    specs = {spec.name: spec for spec in registry.specs()}
    names: list[str] = []
    for name in [benchmarks] if isinstance(benchmarks, str) else benchmarks:
        if settings.has_domain(name):
            names.append(name)
        elif name in specs:
            domains = specs[name].domains
            listed = [domain.name for domain in domains if domain.listed and domain.name != specs[name].demo]
            if not listed:
                known = ", ".join(domain.name for domain in domains[:MOST_NAMES])
                raise BadSettings(
                    f"the benchmark {name} has no default domains. Name a domain, such as {known}."
                )
            names += listed
        else:
            known_names = {*registry.domains(), *settings.own_domains, *specs}
            raise BadSettings(unknown_name("domain or benchmark", name, known_names, "memflow domains"))
    return names


def served_model(url: str) -> str:
    """Return the name of the only model at an OpenAI-compatible address; its key is in OPENAI_API_KEY.

    Raises BadSettings for another number of models or an invalid address, and ChatError if it does not answer.
    """
    check_address("model", url)
    served = [*served_models(url, Model.model_fields["key_variable"].default, Profile(), PATIENCE)]
    if len(served) == 1:
        return served[0]
    shown = ", ".join(served[:MOST_NAMES]) + (", ..." if len(served) > MOST_NAMES else "")
    raise BadSettings(f"{url} serves {shown or 'no model'}. Name one with model=, and the address with url=.")
