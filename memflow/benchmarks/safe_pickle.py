"""A pickle of plain values, and nothing else: for a published file that is one.

A pickle names what its reader is to import and call. Here that is sets alone: dicts, lists, tuples, texts and numbers
need nothing imported. Any other name refuses the file, before anything it asks for is done.
"""

import io
import pickle
from typing import Any

ADMITTED = {
    (module, kind.__name__): kind for module in ("builtins", "__builtin__") for kind in (set, frozenset)
}
"""What older protocols import for a value that is plain all the same; the module has two names."""


class NotPlain(ValueError):
    """The pickle asks for something that is no plain value, or is no pickle."""


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type[set[Any]] | type[frozenset[Any]]:
        if (module, name) not in ADMITTED:
            raise NotPlain(f"it asks for {module}.{name}, and only plain values are read")
        return ADMITTED[module, name]


def load(content: bytes) -> Any:
    """What the pickle holds. Raises NotPlain."""
    try:
        return _Plain(io.BytesIO(content)).load()
    except NotPlain:
        raise
    except Exception as wrong:  # A damaged one raises nearly anything.
        raise NotPlain(f"it is cut off or no pickle ({wrong})") from wrong
