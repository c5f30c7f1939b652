"""INSERT of many rows on PostgreSQL: equal rows, and existing keys."""

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from resources.ledger.statements import InsertStatement

pytestmark = pytest.mark.postgres

NAMES = ("text", "count", "key", "large", "bytes", "seconds", "flag", "optional")
ROWS = [
    ("ünï 😀 \\N\t\n'\"", -1, "a", -(2**63), b"\x00\xff\\x00", 0.1 + 0.2, True, None),
    ("", 2**31 - 1, "b", 2**63 - 1, b"", -0.0, False, "\\."),
    ("x" * 100_000, 0, "c", 0, bytes(range(256)) * 100, 1e-300, False, ""),
]
TABLE = sa.Table(
    "copied_rows",
    sa.MetaData(),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("key", sa.String(32), unique=True),
    sa.Column("text", sa.Text),
    sa.Column("count", sa.Integer),
    sa.Column("large", sa.BigInteger),
    sa.Column("bytes", sa.LargeBinary),
    sa.Column("seconds", sa.Float),
    sa.Column("flag", sa.Boolean),
    sa.Column("optional", sa.Text),
)


@pytest.fixture
def engine(postgres_url: str) -> Iterator[Engine]:
    engine = sa.create_engine(postgres_url)
    TABLE.drop(engine, checkfirst=True)
    TABLE.create(engine)
    yield engine
    TABLE.drop(engine)
    engine.dispose()


def stored_rows(engine: Engine) -> list[tuple[object, ...]]:
    query = sa.select(*(TABLE.c[name] for name in NAMES)).order_by(TABLE.c.number)
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(query)]


def test_statement_stores_rows_in_their_order_without_changes(engine: Engine) -> None:
    statement = InsertStatement(engine, TABLE, NAMES)
    with engine.begin() as connection:
        assert statement.execute(connection, ROWS) == 3
        assert statement.execute(connection, []) == 0
        assert statement.execute(connection, ROWS[:1]) == 0, "an existing row is kept"
    assert stored_rows(engine) == ROWS
