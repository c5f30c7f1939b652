"""URLs of SQLite files."""

from pathlib import Path

from memflow.errors import BadSettings


def sqlite_url(path: Path) -> str:
    """Return the SQLAlchemy URL of a SQLite file."""
    return f"sqlite:///{path}"


def sqlite_path(url: str) -> Path | None:
    """Return the path of the SQLite file of a URL; None for another database and for a database in memory.

    Raises BadSettings if the URL contains a question mark, and ArgumentError if it is malformed.
    """
    from sqlalchemy.engine import make_url  # noqa: PLC0415  (settings are read without SQLAlchemy)

    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return None
    if "?" in url:
        raise BadSettings(
            f"the SQLite URL {url} contains `?`, which would begin options. Choose a path without it, then rerun."
        )
    database = parsed.database or ""
    return Path(database) if database not in ("", ":memory:") else None
