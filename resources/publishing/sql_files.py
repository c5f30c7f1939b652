"""The SQL files of sql/queries. resources/publishing/warehouse.py runs them."""

from importlib.resources import files
from importlib.resources.abc import Traversable

from memflow.errors import BadInput


def query_text(name: str) -> str:
    """Return the text of sql/queries/<name>.sql. Raises BadInput if the file does not exist."""
    folder = files("memflow.sql") / "queries"
    file: Traversable = folder / f"{name}.sql"
    if not file.is_file():
        known = sorted(file.name.removesuffix(".sql") for file in folder.iterdir())
        raise BadInput(f"sql/queries/{name}.sql does not exist. Use one of: {', '.join(known)}")
    return file.read_text(encoding="utf-8")
