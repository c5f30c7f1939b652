"""URLs of SQLite files. SQLAlchemy reads `?` in a path as the start of parameters, and would open another file."""

from pathlib import Path
from urllib.parse import quote, unquote

from memflow.errors import BadSettings

_FILE = "file:"


def sqlite_url(path: Path) -> str:
    """Return the SQLAlchemy URL of a SQLite file."""
    if "?" not in str(path):
        return f"sqlite:///{path}"
    return f"sqlite:///{_FILE}{quote(str(path))}?uri=true"


def sqlite_path(url: str) -> Path | None:
    """Return the path of the SQLite file of a URL; None for another database and for a database in memory.

    Raises BadSettings if a path contains a question mark, and ArgumentError if the URL is malformed.
    """
    from sqlalchemy.engine import make_url  # noqa: PLC0415  (settings are read without SQLAlchemy)

    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return None
    unknown = sorted(parsed.query.keys() - _OPTIONS)
    if unknown or ("?" in url and not parsed.query):
        path, _, rest = url.removeprefix("sqlite:///").partition("?")
        raise BadSettings(
            f"the SQLite URL {url} contains `?`, after which options follow, and `{rest}` is none of them. Write the "
            f"path so: `{sqlite_url(Path(f'{path}?{rest}'))}`."
        )
    database = parsed.database or ""
    if database.startswith(_FILE):
        database = unquote(database.removeprefix(_FILE))
    return Path(database) if database not in ("", ":memory:") else None


_OPTIONS = {
    "uri",
    "mode",
    "cache",
    "immutable",
    "timeout",
    "check_same_thread",
    "cached_statements",
    "nolock",
    "vfs",
}
"""The parameters of a SQLite URL, of Python's driver and of SQLite."""
