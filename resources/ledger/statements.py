"""The SQL statements that add many rows to a table of the ledger at once: INSERT, and COPY on PostgreSQL.

rows.py and sql_ledger.py build the rows.
"""

import io
from collections.abc import Callable, Sequence
from itertools import chain
from operator import itemgetter
from struct import Struct
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Engine

from resources.ledger.tables import MAX_ROWS

Row = tuple[Any, ...]

_COPIED = "copied"
"""The execution option with the data of a COPY."""
_FIXED: dict[type[sa.types.TypeEngine[Any]], str] = {
    sa.Integer: "i",
    sa.BigInteger: "q",
    sa.Float: "d",
    sa.Boolean: "?",
}
"""The columns of a fixed size, and their format in `struct`."""
_HEADER, _TRAILER, _NULL = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff", b"\xff\xff\xff\xff"
_size = Struct(">i").pack


class InsertStatement:
    """An INSERT of many rows: SQLAlchemy compiles it for one row; the placeholders are repeated for further rows.

    SQLAlchemy's own statements for many rows take several times as long. On a conflict, the columns `sums` are added to
    the existing row; without `sums` the existing row is kept.
    """

    def __init__(
        self,
        engine: Engine,
        table: sa.Table,
        names: Sequence[str],
        sums: Sequence[str] = (),
        key: Sequence[str] = (),
    ) -> None:
        module = postgresql if engine.dialect.name == "postgresql" else sqlite
        statement = module.insert(table).values({name: sa.bindparam(name) for name in names})
        if sums:
            added = {name: table.c[name] + statement.excluded[name] for name in sums}
            statement = statement.on_conflict_do_update(index_elements=[*key], set_=added)
        else:
            statement = statement.on_conflict_do_nothing()
        style = "qmark" if engine.dialect.paramstyle == "qmark" else "format"
        compiled = statement.compile(dialect=type(engine.dialect)(paramstyle=style))  # type: ignore[call-arg]
        assert compiled.positiontup is not None
        self._order = itemgetter(*(names.index(name) for name in compiled.positiontup))
        mark = "?" if style == "qmark" else "%s"
        self._row = f"({', '.join([mark] * len(names))})"
        self._before, self._after = str(compiled).split(self._row)

    def execute(self, connection: Connection, rows: Sequence[Row]) -> int:
        """Insert the rows. Return the number of inserted rows."""
        inserted = 0
        for start in range(0, len(rows), MAX_ROWS):
            some = rows[start : start + MAX_ROWS]
            values = ", ".join([self._row] * len(some))
            parameters = tuple(chain.from_iterable(map(self._order, some)))
            statement = f"{self._before}{values}{self._after}"
            inserted += connection.exec_driver_sql(statement, parameters).rowcount
        return inserted


class CopyStatement:
    """A COPY of many rows into a table of PostgreSQL, in its binary format. Raises IntegrityError if a key exists.

    An INSERT of the same rows takes the server four times as long: it parses bytes as hexadecimal digits.
    """

    def __init__(self, engine: Engine, table: sa.Table, names: Sequence[str]) -> None:
        formats = [_FIXED.get(type(table.c[name].type)) for name in names]
        fixed = [number for number, each in enumerate(formats) if each is not None]
        others = [number for number, each in enumerate(formats) if each is None]
        self._fixed, self._others = itemgetter(*fixed), itemgetter(*others)
        sizes = [Struct(f">{formats[number]}").size for number in fixed]
        beginning = Struct(">h" + "".join(f"i{formats[number]}" for number in fixed))
        self._sizes = sizes
        self._pack: Callable[..., bytes] = beginning.pack
        self._count = len(names)
        ordered = ", ".join(f'"{names[number]}"' for number in (*fixed, *others))
        self._statement = f"COPY {table.name} ({ordered}) FROM STDIN WITH (FORMAT binary, ENCODING 'UTF8')"
        if not sa.event.contains(engine, "do_execute", _copy):
            sa.event.listen(engine, "do_execute", _copy)

    def execute(self, connection: Connection, rows: Sequence[Row]) -> int:
        """Copy the rows. Return their number."""
        if rows:
            data = b"".join([_HEADER, *chain.from_iterable(map(self._parts, rows)), _TRAILER])
            connection.exec_driver_sql(self._statement, execution_options={_COPIED: data})
        return len(rows)

    def _parts(self, row: Row) -> list[bytes]:
        """Return a row in the binary format: the number of columns, and the size and value of each."""
        fixed = chain.from_iterable(zip(self._sizes, self._fixed(row), strict=True))
        parts = [self._pack(self._count, *fixed)]
        for value in self._others(row):
            if value is None:
                parts.append(_NULL)
            else:
                written = value.encode() if isinstance(value, str) else value
                parts += (_size(len(written)), written)
        return parts


def new_rows_statement(
    engine: Engine, table: sa.Table, names: Sequence[str]
) -> CopyStatement | InsertStatement:
    """Return the fastest statement for rows that the table probably lacks."""
    kind = CopyStatement if engine.dialect.driver == "psycopg2" else InsertStatement
    return kind(engine, table, names)


def _copy(cursor: Any, statement: str, _: Any, context: Any) -> bool:
    """Execute a COPY with the driver's own method. Return whether the statement was one."""
    data = context.execution_options.get(_COPIED)
    if data is None:
        return False
    cursor.copy_expert(statement, io.BytesIO(data))
    return True
