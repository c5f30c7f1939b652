"""Deferred imports of modules that a library imports at its start, but that memflow's use of it rarely needs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
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
