"""The SQL files of sql/: named queries, and the definitions of views.

resources/publishing/warehouse.py runs the SQL.
"""

from importlib.resources import files
from importlib.resources.abc import Traversable

from memflow.errors import BadInput

VIEWS = ("score.histories", "score.continual")
"""The views of sql/views/<stage>/<name>.sql, each after those that it uses."""


def query_text(name: str) -> str:
    """Return the text of sql/queries/<name>.sql. Raises BadInput if the file does not exist."""
    folder = files("memflow.sql") / "queries"
    file: Traversable = folder / f"{name}.sql"
    if not file.is_file():
        known = sorted(file.name.removesuffix(".sql") for file in folder.iterdir())
        raise BadInput(f"sql/queries/{name}.sql does not exist. Use one of: {', '.join(known)}")
    return file.read_text(encoding="utf-8")


def view_text(view: str) -> str:
    """Return the SQL statement that creates or replaces a view of VIEWS."""
    stage, _, name = view.partition(".")
    return (files("memflow.sql") / "views" / stage / f"{name}.sql").read_text(encoding="utf-8")
