"""Row types with other columns, as if another version of memflow declared them."""

from collections.abc import Callable
from dataclasses import MISSING, field, fields, make_dataclass
from typing import Any

import pytest

from memflow.records import TABLES, columns
from memflow.resources.lake import row_groups
from memflow.resources.lake.columns import declared_columns, schema
from memflow.resources.lake.verification import VERIFIED

CACHED: tuple[Callable[..., Any], ...] = (columns, schema, declared_columns, row_groups._compared_columns)


def forget_columns() -> None:
    """Forget what this process has derived from the row types, and the files that it has verified."""
    for function in CACHED:
        function.cache_clear()  # type: ignore[attr-defined]
    VERIFIED.clear()


def change_columns(patch: pytest.MonkeyPatch, table: str, **changed: Any) -> None:
    """Declare a table with changed columns: an annotated type, or None for a removed column.

    A new column is the last one, and is null unless a row has a value. `restored_columns` undoes it.
    """
    former = TABLES[table]
    kept = []
    for each in fields(former):
        annotation = changed.pop(each.name, each.type)
        if annotation is None:
            continue
        options = {} if each.default is MISSING else {"default": each.default}
        if each.default_factory is not MISSING:
            options["default_factory"] = each.default_factory
        kept.append((each.name, annotation, field(**options)))
    kept += [(name, annotation, field(default=None)) for name, annotation in changed.items()]
    row = make_dataclass(former.__name__, kept, frozen=True, slots=True, kw_only=True)
    row.__doc__ = former.__doc__
    patch.setitem(TABLES, table, row)
    forget_columns()
