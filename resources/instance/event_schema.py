"""The schema of Dagster's event log, and the Dagster version that memflow's event logs support."""

import functools
import inspect
import sqlite3

import dagster as dg
import sqlalchemy as db
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from dagster._core.storage.event_log.schema import SqlEventLogStorageMetadata
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.sql import get_alembic_config
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement

from memflow.errors import EventLogError

DAGSTER = "1.13.27"
DIALECT = sqlite.dialect()
VERSION = db.Table(
    "alembic_version",
    db.MetaData(),
    db.Column("version_num", db.String(32), nullable=False),
    db.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""Alembic's table with the revision of the schema."""
REVISION = str(db.select(VERSION.c.version_num).compile(dialect=DIALECT))


def changed_methods(storage: type, expected: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the names of expected storage methods that are missing or have different parameters in Dagster."""
    found = {
        name: tuple(inspect.signature(method).parameters)
        for name in expected
        if (method := getattr(storage, name, None)) is not None
    }
    return [
        name
        for name, parameters in expected.items()
        if found.get(name) not in (parameters, ("self", *parameters))
    ]


def require_dagster(storage: type, expected: dict[str, tuple[str, ...]]) -> None:
    """Raise EventLogError if the class `storage` does not support the installed version of Dagster."""
    if changed := changed_methods(storage, expected):
        raise EventLogError(
            f"memflow's event log needs Dagster {DAGSTER}. In the installed Dagster {dg.__version__}, "
            f"{storage.__name__} changed: {', '.join(changed)}. Install dagster=={DAGSTER}, or remove "
            "`event_log_storage` from dagster.yaml to use Dagster's own event log on the same files."
        )


@functools.cache
def head_revision() -> str:
    """Return the newest revision of the event log's schema in the installed Dagster."""
    (revision,) = _scripts().get_heads()
    return revision


def is_known_revision(revision: str) -> bool:
    """Return whether the installed Dagster contains a migration to this schema revision."""
    try:
        return _scripts().get_revision(revision) is not None
    except CommandError:
        return False


@functools.cache
def table_statements() -> list[str]:
    """Return the SQL statements that create an event log at the newest schema revision, as Dagster's storage does."""
    tables = [*SqlEventLogStorageMetadata.sorted_tables, VERSION]
    indexes = [
        index for table in tables for index in sorted(table.indexes, key=lambda index: str(index.name))
    ]
    elements: list[DDLElement] = [
        *(CreateTable(table) for table in tables),
        *(CreateIndex(index) for index in indexes),
    ]
    revision = db.insert(VERSION).values(version_num=head_revision())
    return [
        *(str(element.compile(dialect=DIALECT)) for element in elements),
        str(revision.compile(dialect=DIALECT, compile_kwargs={"literal_binds": True})),
    ]


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(get_alembic_config(sqlite_event_log.__file__))


def find_revision(connection: sqlite3.Connection) -> str | None:
    """Return the schema revision of an event log's database; None if none is recorded."""
    try:
        found = connection.execute(REVISION).fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return None
    return str(found[0]) if found else None
