"""Safe loading of pickles that contain built-in values and sets only. A file with any other class is rejected."""

import io
import pickle
from typing import Any

ADMITTED = {
    (module, kind.__name__): kind for module in ("builtins", "__builtin__") for kind in (set, frozenset)
}
"""Allowed classes; older protocols import them from `__builtin__`."""


class NotPlain(ValueError):
    """The error for a file that is no pickle or contains other values than built-in ones and sets."""


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type[set[Any]] | type[frozenset[Any]]:
        if (module, name) not in ADMITTED:
            raise NotPlain(
                f"the file contains the class {module}.{name}; only built-in values and sets are allowed"
            )
        return ADMITTED[module, name]


def load(content: bytes) -> Any:
    """Load a pickle of built-in values and sets. Raises NotPlain if it is damaged or names another class."""
    try:
        return _Plain(io.BytesIO(content)).load()
    except NotPlain:
        raise
    except Exception as wrong:  # A damaged one raises nearly anything.
        raise NotPlain(f"the file is truncated or not a pickle ({wrong})") from wrong
