"""The columns of lake files: Arrow types of row fields, validation of rows, conversion of rows to arrays."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from memflow.errors import BadInput
from memflow.records import KEYS, TABLES, Column, columns

ARROW: dict[Any, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    list[str]: pa.list_(pa.string()),
    list[float]: pa.list_(pa.float64()),
}
"""The Arrow type of each Python type that a column may have."""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _are_numbers(values: list[Any]) -> bool:
    # Vectors are long and usually of floats alone: one pass without a Python call per number.
    return (
        all(map(math.isfinite, values)) if {*map(type, values)} == {float} else all(map(_is_number, values))
    )


_IS_TYPE: dict[Any, Callable[[Any], bool]] = {
    str: lambda value: isinstance(value, str),
    int: lambda value: isinstance(value, int) and not isinstance(value, bool),
    float: _is_number,
    bool: lambda value: isinstance(value, bool),
    list[str]: lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    list[float]: lambda value: isinstance(value, list) and _are_numbers(value),
}


def schema(table: str) -> pa.Schema:
    """Return the Arrow schema of a table."""
    return pa.schema(
        [pa.field(column.name, ARROW[column.type], column.nullable) for column in columns(table)]
    )


def has_vectors(table: str) -> bool:
    """Return whether a table has a vector column."""
    return any(column.type == list[float] for column in columns(table))


def validate(table: str, rows: Sequence[Any], first: int = 0) -> list[Any]:
    """Return `rows` with integers in float columns converted to floats; all other values are unchanged.

    `first` is the number of the first row in its partition. Raises BadInput with table, column and row for the first
    value of a wrong type.
    """
    if table not in TABLES:
        raise unknown_table(table)
    row_type = TABLES[table]
    for number, row in enumerate(rows, first):
        if type(row) is not row_type:
            raise BadInput(
                f"row {number} of the table {table} is a {type(row).__name__}, not a {row_type.__name__}. Fix the step "
                "that returns the row."
            )
    found = list(rows)
    for column in columns(table):
        is_type = _IS_TYPE[column.type]
        for number, row in enumerate(found):
            value = getattr(row, column.name)
            if value is None and column.nullable:
                continue
            if not is_type(value):
                raise _type_error(table, column, first + number, row, value)
            if column.type is float and isinstance(value, int):
                found[number] = replace(row, **{column.name: float(value)})
    return found


def to_array(table: str, column: Column, rows: Sequence[Any], first: int = 0) -> pa.Array:
    """Return one column of validated rows as an Arrow array; `first` is the number of the first row.

    Raises BadInput for a value that Arrow cannot store.
    """
    values = [getattr(row, column.name) for row in rows]
    errors = (pa.ArrowInvalid, UnicodeEncodeError, OverflowError)
    try:
        return pa.array(values, ARROW[column.type])
    except errors:
        for number, (row, value) in enumerate(zip(rows, values, strict=True), first):
            try:
                pa.array([value], ARROW[column.type])
            except errors as wrong:
                raise _type_error(table, column, number, row, value) from wrong
        raise


def from_array(array: pa.Array) -> list[Any]:
    """Return the values of an Arrow array as a list, in which equal texts share one object to save memory."""
    if pa.types.is_list(array.type):
        items, lengths = from_array(array.flatten()), pc.list_value_length(array).to_pylist()
        ends = accumulate(length or 0 for length in lengths)
        return [
            None if length is None else items[end - length : end]
            for length, end in zip(lengths, ends, strict=True)
        ]
    if pa.types.is_string(array.type):
        encoded = array.dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        return [None if at is None else texts[at] for at in encoded.indices.to_pylist()]
    return list(array.to_pylist())


def unknown_table(table: str) -> BadInput:
    """Return the exception for an unknown table name."""
    return BadInput(f"there is no table {table!r}. Use one of: {', '.join(TABLES)}")


def _type_error(table: str, column: Column, number: int, row: Any, value: Any) -> BadInput:
    key = ", ".join(f"{name}={getattr(row, name)!r}" for name in KEYS[table])
    wanted = str(column.type) if column.type in (list[str], list[float]) else column.type.__name__
    shown = ascii(value)
    shown = shown if len(shown) <= 80 else f"{shown[:79]}…"
    return BadInput(
        f"{table}.{column.name} of row {number} ({key}) is {shown}, not {wanted}"
        f"{' or null' if column.nullable else ''}. Fix the step that returns the row."
    )
