"""The code of memory classes that a notebook cell or the main program (`__main__`) defines, for their fingerprints.

Such a class has no module file that contains it and nothing else. What counts is its byte code, its attributes, and the
functions, classes and values of `__main__` that it uses, whichever cell defines them. Comments and positions do not
count. Byte code depends on the Python version.
"""

import dis
import functools
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, NamedTuple

from memflow.errors import BadSettings
from memflow.fingerprint import canonical_json

MAIN = "__main__"
BY_DATACLASS = ("__init__", "__repr__", "__eq__", "__replace__", "__create_fn__")
"""Methods that `@dataclass` adds to a class."""


class MainCode(NamedTuple):
    """The code of a class as text, and the modules of memflow that it uses."""

    text: str
    modules: frozenset[str]


def main_code(memory: type) -> MainCode | None:
    """Return the code of a class of `__main__`, or of a class that derives from one; None for another class.

    It is computed at each call, because a cell that runs again may define another function that the class uses. Raises
    BadSettings if the class uses a global object of which no fingerprint can be computed.
    """
    if all(base.__module__ != MAIN for base in memory.__mro__):
        return None
    description = _Description(memory.__qualname__)
    text = canonical_json([description.of(base) for base in memory.__mro__])
    return MainCode(text, frozenset(description.modules))


class _Description:
    """Descriptions of Python objects as plain data that does not depend on the process."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.modules: set[str] = set()
        self._described: set[int] = set()

    def of(self, value: Any, name: str = "") -> Any:
        """Return the description of a value, for which `name` stands in messages."""
        value = inspect.unwrap(
            getattr(value, "__func__", value)
        )  # without staticmethod, lru_cache and the like
        parts = _parts(value)
        if parts is not None:
            described = [self.of(part, name) for part in parts]
            if isinstance(value, set | frozenset):
                described.sort(key=canonical_json)
            return [type(value).__name__, described]
        if isinstance(value, CodeType):
            return self._code(value)
        if isinstance(value, FunctionType | type | BuiltinFunctionType | ModuleType):
            is_here = getattr(value, "__module__", None) == MAIN
            return self._defined(value) if is_here else self._imported(value)
        text = repr(value)
        if " at 0x" in text:  # an object without a representation of its value
            raise BadSettings(
                f"the memory {self.owner} uses {name or 'a value'}, an object of type {type(value).__name__}, of "
                "which no fingerprint can be computed. Create it in __post_init__, pass it as a parameter, or move the "
                "class into a module."
            )
        return [type(value).__qualname__, text]

    def _defined(self, value: Any) -> Any:
        """Return the description of a function or class of `__main__`; at the second time, its name."""
        if id(value) in self._described:
            return value.__qualname__
        self._described.add(id(value))
        if isinstance(value, FunctionType):
            cells = [cell.cell_contents for cell in value.__closure__ or () if _is_set(cell)]
            globals_used = {
                name: self.of(value.__globals__[name], name)
                for name in sorted(set(_global_names(value.__code__)))
                if name in value.__globals__
            }
            parts = (value.__code__, value.__defaults__, value.__kwdefaults__, cells)
            return [value.__qualname__, globals_used, *map(self.of, parts)]
        factories = {
            field.name: self.of(field.default_factory)
            for field in (fields(value) if is_dataclass(value) else ())
            if field.default_factory is not MISSING
        }
        members = {
            name: self.of(member, f"{value.__qualname__}.{name}")
            for name, member in sorted(vars(value).items())
            if not _is_generated(name, member)
        }
        return [value.__qualname__, [self.of(base) for base in value.__bases__], members, factories]

    def _code(self, code: CodeType) -> Any:
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        constants = [self.of(constant) for constant in code.co_consts]
        return [code.co_code.hex(), code.co_exceptiontable.hex(), *counts, *names, constants]

    def _imported(self, value: Any) -> str:
        """Return the name of a module, or of a function or class of one, and note the module if it is of memflow."""
        is_module = isinstance(value, ModuleType)
        module, name = (value.__name__, "") if is_module else (value.__module__ or "", value.__qualname__)
        if module.startswith("memflow."):
            self.modules.add(module)
        return f"{module}:{name}"


def _parts(value: Any) -> Iterable[Any] | None:
    """Return the objects of which a container or an attribute consists; None for another object."""
    if isinstance(value, property):
        return value.fget, value.fset
    if isinstance(value, functools.cached_property):
        return (value.func,)
    if isinstance(value, dict | MappingProxyType):
        return value.items()
    return value if isinstance(value, list | tuple | set | frozenset) else None


def _global_names(code: CodeType) -> Iterator[str]:
    """Yield the global names that a function uses, also in functions inside it."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _is_generated(name: str, member: Any) -> bool:
    """Return whether Python or `@dataclass` added a member to a class."""
    if not isinstance(member, FunctionType):
        return name == "_abc_impl" or (name.startswith("__") and name.endswith("__"))
    return member.__code__.co_filename == "<string>" and member.__name__ in BY_DATACLASS


def _is_set(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  (an empty cell raises ValueError)
    except ValueError:
        return False
    return True
