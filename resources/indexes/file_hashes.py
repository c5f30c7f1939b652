"""The hashes of the files of search indexes, which LanceDB does not verify: a record per index beside the indexes.

An index is verified when a process first reads it. It can be rebuilt from the lake without requests.
"""

import fcntl
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import quote

from resources.files.file_cache import FileState
from resources.files.local_files import replace_file

RECORDS = ".files"
"""The folder of records, below the folder of the indexes."""
ENDING = ".lance"


@dataclass(frozen=True)
class IndexRecord:
    """The content hash of the rows that an index was built from, and the size and hash of each of its files."""

    content: str = ""
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def check(self) -> str:
        """The hash of the record itself."""
        return hashlib.blake2b(json.dumps(asdict(self), sort_keys=True).encode(), digest_size=16).hexdigest()


def index_name(domain: str, assistant: str) -> str:
    """Return the name of the LanceDB table of a domain and assistant, in characters that LanceDB allows."""
    quoted = quote(f"{domain}.{assistant}".replace("@", "."), safe="")
    return quoted.replace("~", "%7E").replace("%", "-")


class IndexHashes:
    """The hashes of the indexes in a folder. For indexes at an address, nothing is stored and nothing is damaged."""

    def __init__(self, root: str) -> None:
        self._root = None if "://" in root else Path(root)
        self._verified: dict[str, tuple[frozenset[tuple[str, FileState | None]], str | None]] = {}

    @contextmanager
    def writing(self, name: str) -> Iterator[None]:
        """Lock an index while it is written, since two processes may build the same partition."""
        if self._root is None:
            yield
            return
        path = self._root / RECORDS / f".{name}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def store(self, name: str, content: str) -> None:
        """Store the hashes of the files of an index."""
        if self._root is None:
            return
        files = {path: (size, hash_) for path, (size, hash_) in _hashes(self._folder(name)).items()}
        record = IndexRecord(content, files)
        text = json.dumps({**asdict(record), "check": record.check})
        replace_file(self._record(name), lambda file: file.write(text.encode()))

    def discard(self, name: str) -> None:
        """Remove the hashes of an index that is about to change."""
        if self._root is not None:
            self._record(name).unlink(missing_ok=True)

    def remove_files(self, name: str) -> None:
        """Remove the files of an index, so that it is created again."""
        if self._root is not None:
            shutil.rmtree(self._folder(name), ignore_errors=True)

    def is_current(self, name: str, content: str) -> bool:
        """Return whether an index exists and was built from rows with this hash. Only its record is read."""
        if self._root is None:
            return True
        record = self._read(name)
        return self._folder(name).is_dir() and record is not None and record.content == content

    def damage(self, name: str) -> str | None:
        """Return why an index is damaged; None if it is intact, missing, or was not written to its end."""
        if self._root is None or not self._folder(name).is_dir() or not self._record(name).exists():
            return None
        states = frozenset((path, _state(self._folder(name) / path)) for path in _names(self._folder(name)))
        states |= {("", _state(self._record(name)))}
        known = self._verified.get(name)
        if known is None or known[0] != states:
            known = self._verified[name] = (states, self._compare(name))
        return known[1]

    def _compare(self, name: str) -> str | None:
        record = self._read(name)
        if record is None:
            return "the record of its files changed since it was written"
        found = _hashes(self._folder(name))
        wrong = sorted(
            path
            for path in record.files.keys() | found.keys()
            if tuple(record.files.get(path, ())) != tuple(found.get(path, ()))
        )
        return f"{wrong[0]} changed since it was written" if wrong else None

    def _read(self, name: str) -> IndexRecord | None:
        """Return the record of an index; None if it is missing or damaged."""
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            values = json.loads(self._record(name).read_text(encoding="utf-8"))
            files = {path: (size, hash_) for path, (size, hash_) in values["files"].items()}
            record = IndexRecord(values["content"], files)
            if values["check"] == record.check:
                return record
        return None

    def _folder(self, name: str) -> Path:
        return Path(self._root or "", f"{name}{ENDING}")

    def _record(self, name: str) -> Path:
        return Path(self._root or "", RECORDS, f"{name}.json")


def _names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _hashes(folder: Path) -> dict[str, tuple[int, str]]:
    found = {}
    for name in _names(folder):
        with (folder / name).open("rb") as file:
            hash_ = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
            found[name] = (file.tell(), hash_)
    return found


def _state(path: Path) -> FileState | None:
    with suppress(OSError):
        return FileState.of(path.stat())
    return None
