"""The SQL statement that adds many rows to a table of the ledger at once. rows.py and sql_ledger.py build the rows."""

from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Engine

from memflow.resources.ledger.tables import MAX_ROWS

Row = tuple[Any, ...]


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
