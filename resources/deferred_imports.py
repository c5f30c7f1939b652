"""Deferred imports of modules that a library imports at its start, but that memflow's use of it rarely needs."""

import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class _DeferredModule(ModuleType):
    """A module that is imported when one of its attributes is first read."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # read by the import system and by `inspect`
            raise AttributeError(f"module {self.__name__!r} is not imported yet, so it has no {name!r}")
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class _HidingFinder(MetaPathFinder):
    """A finder that reports modules as missing to one thread."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Raise ModuleNotFoundError for a hidden module; other finders find all other modules."""
        if fullname in self._names and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


class _EmptyModule(ModuleType):
    """A module in which every name is an empty class."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"the module {self.__name__!r} is empty, so it has no {name!r}")
        return type(name, (), {})


class _EmptyFinder(MetaPathFinder, Loader):
    """A finder and loader of empty modules, for the modules of one package and for one thread."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the specification of an empty module in the package; None for other modules."""
        is_empty = fullname.partition(".")[0] == self._package and threading.get_ident() == self._thread
        return ModuleSpec(fullname, self, is_package=True) if is_empty else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return an empty module."""
        return _EmptyModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Execute nothing."""


@contextmanager
def empty_package(name: str) -> Iterator[None]:
    """Let the code in the context import empty classes from a package. Outside of it, imports are as usual.

    It serves a library that imports the classes at its start, and that memflow never lets use them.
    """
    finder = _EmptyFinder(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for module_name, module in list(sys.modules.items()):  # a copy, because other threads import meanwhile
            if isinstance(module, _EmptyModule) and module_name.partition(".")[0] == name:
                del sys.modules[module_name]


@contextmanager
def hidden_modules(*names: str) -> Iterator[None]:
    """Let imports of these modules by the code in the context raise ImportError, as if they were not installed.

    Modules that are already imported are not hidden. Neither are modules that another thread imports meanwhile: it may
    need them, and would keep an incomplete module.
    """
    finder = _HidingFinder(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


@contextmanager
def deferred_imports(*names: str) -> Iterator[None]:
    """Defer imports of these modules by the code in the context. Modules that are already imported do not change.

    The importing code gets a substitute, which imports the module when one of its attributes is first read. Outside of
    the context, imports are as usual.
    """
    substitutes = {name: _DeferredModule(name) for name in names if name not in sys.modules}
    sys.modules.update(substitutes)
    try:
        yield
    finally:
        for name, substitute in substitutes.items():
            if sys.modules.get(name) is substitute:
                del sys.modules[name]
