"""The SQL files of sql/: named queries, and the definitions of tables and views.

resources/publishing/warehouse.py runs the SQL.
"""

from importlib.resources import files
from importlib.resources.abc import Traversable

from memflow.errors import BadInput

VIEWS = ("score.histories", "score.continual")
"""The views of sql/views/<stage>/<name>.sql, each after those that it uses."""


def query_text(name: str) -> str:
    """Return the text of sql/queries/<name>.sql. Raises BadInput if the file does not exist."""
    return _text("queries", name)


def table_text(table: str) -> str:
    """Return the SQL statement that creates a table, such as `score.verdicts`, if it does not exist."""
    return _text(*_place("tables", table))


def view_text(view: str) -> str:
    """Return the SQL statement that creates or replaces a view of VIEWS."""
    return _text(*_place("views", view))


def literal(text: str) -> str:
    """Return a text as an SQL string literal, for statements that allow no parameters."""
    return "'" + text.replace("'", "''") + "'"


def escaped(path: str) -> str:
    """Return a path as a file pattern of DuckDB that matches this path alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _place(folder: str, table: str) -> tuple[str, str]:
    stage, _, name = table.partition(".")
    return f"{folder}/{stage}", name


def _text(folder: str, name: str) -> str:
    found: Traversable = files("sql")
    for part in folder.split("/"):
        found = found.joinpath(part)
    file = found.joinpath(f"{name}.sql")
    if not file.is_file():
        known = sorted(each.name.removesuffix(".sql") for each in found.iterdir())
        raise BadInput(f"sql/{folder}/{name}.sql does not exist. Use one of: {', '.join(known)}")
    return file.read_text(encoding="utf-8")
