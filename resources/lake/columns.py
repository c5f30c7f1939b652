"""The columns of lake files: Arrow types of row fields, validation of rows, conversion of rows to columns.

The row types (memflow/records) are the only source of columns. A nullable column that a file lacks, because it was
added later, reads as null.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from operator import attrgetter
from typing import Any

import pyarrow as pa

from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.records import KEYS, TABLES, Column, columns
from memflow.suggestions import unknown_name

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


_IS_TYPE: dict[Any, Callable[[Any], bool]] = {
    str: lambda value: isinstance(value, str),
    int: lambda value: isinstance(value, int) and not isinstance(value, bool),
    float: _is_number,
    bool: lambda value: isinstance(value, bool),
    list[str]: lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    list[float]: lambda value: isinstance(value, list) and all(map(_is_number, value)),
}


@cache
def schema(table: str) -> pa.Schema:
    """Return the Arrow schema of a table."""
    return pa.schema(
        [pa.field(column.name, ARROW[column.type], column.nullable) for column in columns(table)]
    )


@cache
def declared_columns() -> str:
    """Return a hash of the columns of all tables, by which caches of rows become outdated."""
    return digest([[table, str(schema(table))] for table in TABLES])


def facts_cache_name() -> str:
    """Return the name of the cache of the metadata of verified files, which were compared with these columns."""
    return f"facts-6-{declared_columns()[:16]}"


def column_changes(table: str, stored: pa.Schema) -> str:
    """Return which columns of a file cannot be read as those of `table`; "" if all can.

    A column that the file lacks can be read if it is nullable, and one that may be null if it still may be.
    """
    changes = [f"`{name}` was removed" for name in stored.names if name not in schema(table).names]
    for field in schema(table):
        former = stored.field(field.name) if field.name in stored.names else None
        if former is None and not field.nullable:
            changes.append(f"`{field.name}` was added and cannot be null")
        elif former is not None and former.type != field.type:
            changes.append(f"`{field.name}` was {former.type} and is {field.type}")
        elif former is not None and former.nullable and not field.nullable:
            changes.append(f"`{field.name}` could be null and cannot be null now")
    return ", ".join(changes)


def with_columns(table: str, batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """Return the columns `names` of a batch in this order; those that its file lacks are null."""
    if batch.schema.names == [*names]:
        return batch
    fields = [schema(table).field(name) for name in names]
    arrays = [
        batch.column(field.name) if field.name in batch.schema.names else pa.nulls(batch.num_rows, field.type)
        for field in fields
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


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
    values = column_values(table, found)
    for column in columns(table):
        is_type = _IS_TYPE[column.type]
        for number, (row, value) in enumerate(zip(found, values[column.name], strict=True)):
            if value is None and column.nullable:
                continue
            if not is_type(value):
                raise _type_error(table, column, first + number, row, value)
            if column.type is float and isinstance(value, int):
                found[number] = replace(row, **{column.name: float(value)})
    return found


def column_values(table: str, rows: Sequence[Any]) -> dict[str, tuple[Any, ...]]:
    """Return a tuple of the rows' values for each column of the table, by name, in one pass over the rows."""
    names = [column.name for column in columns(table)]
    found = [*zip(*map(attrgetter(*names), rows), strict=True)] or [()] * len(names)
    return dict(zip(names, found, strict=True))


def to_arrays(table: str, rows: Sequence[Any], first: int = 0) -> list[pa.Array]:
    """Return the columns of validated rows as Arrow arrays; `first` is the number of the first row.

    Raises BadInput for a value that Arrow cannot store.
    """
    values = column_values(table, rows)
    return [_to_array(table, column, values[column.name], rows, first) for column in columns(table)]


def _to_array(table: str, column: Column, values: Sequence[Any], rows: Sequence[Any], first: int) -> pa.Array:
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
        items, lengths = from_array(array.flatten()), array.value_lengths().to_pylist()
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
    return BadInput(unknown_name("table", table, TABLES, 'memflow sql "SHOW ALL TABLES"'))


def _type_error(table: str, column: Column, number: int, row: Any, value: Any) -> BadInput:
    key = ", ".join(f"{name}={getattr(row, name)!r}" for name in KEYS[table])
    wanted = str(column.type) if column.type in (list[str], list[float]) else column.type.__name__
    shown = ascii(value)
    shown = shown if len(shown) <= 80 else f"{shown[:79]}…"
    return BadInput(
        f"{table}.{column.name} of row {number} ({key}) is {shown}, not {wanted}"
        f"{' or null' if column.nullable else ''}. Fix the step that returns the row."
    )
