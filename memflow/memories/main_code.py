"""The code of memory classes that a notebook cell or the main program (`__main__`) defines, for their fingerprints.

Such a class has no module file that contains it and nothing else. What counts is its byte code, its attributes, and the
functions, classes and values of `__main__` that it uses, whichever cell defines them. Comments and positions do not
count. Byte code depends on the Python version.
"""

import dis
import enum
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, NamedTuple

from pydantic import BaseModel

from memflow.errors import BadSettings
from memflow.fingerprint import canonical_json

MAIN = "__main__"
BY_PYTHON = {
    "__module__",
    "__doc__",
    "__dict__",
    "__weakref__",
    "__annotations__",
    "__abstractmethods__",
    "_abc_impl",
}
BY_DATACLASS = {"__dataclass_fields__", "__dataclass_params__", "__match_args__"}
GENERATED = BY_PYTHON | BY_DATACLASS | {"__firstlineno__", "__static_attributes__"}
"""Attributes that Python or `@dataclass` adds to a class."""
PLAIN = (str, bytes, int, float, complex, type(None), type(Ellipsis))
PARTS: tuple[tuple[Any, Callable[[Any], Iterable[Any]]], ...] = (
    (enum.Enum, lambda member: (type(member), member.value)),
    ((list, tuple), iter),
    ((dict, MappingProxyType), lambda mapping: mapping.items()),
    (re.Pattern, lambda pattern: (pattern.pattern, pattern.flags)),
    (property, lambda attribute: (attribute.fget, attribute.fset)),
    ((staticmethod, classmethod), lambda method: (method.__func__,)),
    (functools.cached_property, lambda attribute: (attribute.func,)),
    (BaseModel, lambda model: (type(model), model.model_dump(mode="json"))),
    (functools.partial, lambda function: (function.func, function.args, function.keywords)),
)
"""The types whose objects consist of parts, and the function that returns the parts."""


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
        for types, parts_of in PARTS:
            if isinstance(value, types):
                return [type(value).__name__, [self.of(part, name) for part in parts_of(value)]]
        if isinstance(value, PLAIN):
            return [type(value).__name__, repr(value)]
        if isinstance(value, set | frozenset):
            return [type(value).__name__, sorted(canonical_json(self.of(item, name)) for item in value)]
        if isinstance(value, CodeType):
            return self._code(value)
        return self._named(value, name)

    def _named(self, value: Any, name: str) -> Any:
        """Return the description of a function, class, module or dataclass instance."""
        if isinstance(value, FunctionType | type) and value.__module__ == MAIN:
            return self._defined(value)
        if hasattr(value, "__wrapped__"):
            return [type(value).__name__, self.of(value.__wrapped__)]
        if isinstance(value, ModuleType):
            return self._imported(value.__name__, "")
        if isinstance(value, FunctionType | type | BuiltinFunctionType):
            return self._imported(value.__module__ or "", value.__qualname__)
        if is_dataclass(value):
            values = {field.name: self.of(getattr(value, field.name), name) for field in fields(value)}
            return [self.of(type(value)), values]
        if type(value).__module__ == "typing":
            return repr(value)
        raise BadSettings(
            f"the memory {self.owner} uses {name or 'a value'}, an object of type {type(value).__name__}, of "
            "which no fingerprint can be computed. Create it in __post_init__, pass it as a parameter, or move the "
            "class into a module."
        )

    def _defined(self, value: Any) -> Any:
        """Return the description of a function or class of `__main__`; at the second time, its name."""
        if id(value) in self._described:
            return value.__qualname__
        self._described.add(id(value))
        if isinstance(value, FunctionType):
            cells = [cell.cell_contents for cell in value.__closure__ or () if _is_set(cell)]
            used = {
                name: self.of(value.__globals__[name], name)
                for name in sorted(set(_global_names(value.__code__)))
                if name in value.__globals__
            }
            parts = (value.__code__, value.__defaults__, value.__kwdefaults__, cells)
            return [value.__qualname__, used, *map(self.of, parts)]
        factories = {
            field.name: self.of(field.default_factory)
            for field in (fields(value) if is_dataclass(value) else ())
            if field.default_factory is not MISSING
        }
        members = {
            name: self.of(member, f"{value.__qualname__}.{name}")
            for name, member in sorted(vars(value).items())
            if name not in GENERATED and not _is_generated(member)
        }
        return [value.__qualname__, [self.of(base) for base in value.__bases__], members, factories]

    def _code(self, code: CodeType) -> Any:
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        constants = [self.of(constant) for constant in code.co_consts]
        return [code.co_code.hex(), code.co_exceptiontable.hex(), *counts, *names, constants]

    def _imported(self, module: str, name: str) -> str:
        if module.startswith("memflow."):
            self.modules.add(module)
        return f"{module}:{name}"


def _global_names(code: CodeType) -> Iterator[str]:
    """Yield the global names that a function uses, also in functions inside it."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _is_generated(member: Any) -> bool:
    """Return whether `@dataclass` generated a method, such as `__init__`, from the fields."""
    return (
        isinstance(member, FunctionType)
        and member.__code__.co_filename == "<string>"
        and member.__name__ in ("__init__", "__repr__", "__eq__", "__replace__", "__create_fn__")
    )


def _is_set(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  (an empty cell raises ValueError)
    except ValueError:
        return False
    return True
