"""Pointers of a lake in an object store: which object has the current rows of a partition, and its metadata.

A pointer is the only object that changes. Each swap writes a different text, so two versions never share a tag.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from secrets import token_hex
from typing import Any

from memflow.errors import BadInput
from resources.files.file_cache import FileCache, FileState
from resources.lake.facts import Facts

FORMAT = 1
"""The version of the text of pointers and records."""


@dataclass(frozen=True)
class ObjectName:
    """The key of an object and its size in bytes.

    The key ends with CONTENT-HASH-TOKEN.parquet: the hash of the rows, the hash of the file, and random digits. No two
    writes create the same key, so an object that nothing refers to will never be referred to again.
    """

    key: str
    size: int

    @classmethod
    def create(cls, folder: str, content: str, file: bytes) -> "ObjectName":
        """Return a new name for a file below the key `folder`."""
        hashed = sha256(file).hexdigest()[:32]
        return cls(f"{folder}/{content}-{hashed}-{token_hex(8)}.parquet", len(file))

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition("/")[2]

    @property
    def content(self) -> str:
        """The hash of the rows."""
        return self.name.partition("-")[0]

    def describes(self, file: bytes) -> bool:
        """Return whether a file has the size and the hash of the name."""
        return len(file) == self.size and sha256(file).hexdigest()[:32] == self.name.split("-")[1]


@dataclass(frozen=True)
class Pointer:
    """The object with the rows of a version of a partition, and the version's metadata. `token` differs per swap."""

    object: ObjectName
    facts: Facts
    token: str

    def text(self) -> bytes:
        """Return the JSON text of a pointer or record, with a hash of the values."""
        values = {
            "format": FORMAT,
            "object": asdict(self.object),
            "facts": asdict(self.facts),
            "token": self.token,
        }
        return _dump({**values, "hash": sha256(_dump(values)).hexdigest()})

    @classmethod
    def parse(cls, text: bytes) -> "Pointer":
        """Return the pointer in a JSON text. Raises ValueError if the text is damaged, BadInput for a later format."""
        found = json.loads(text)
        if not isinstance(found, dict):
            raise ValueError("it is not an object")
        hashed = found.pop("hash", None)
        if hashed != sha256(_dump(found)).hexdigest():
            raise ValueError("its hash differs from its content")
        if found["format"] != FORMAT:
            raise BadInput(f"has the format {found['format']} of a later version of memflow. Update memflow.")
        return cls(ObjectName(**found["object"]), Facts(**found["facts"]), found["token"])

    @property
    def state(self) -> FileState:
        """A value that differs for every version."""
        hashed = sha256(f"{self.token} {self.object.key}".encode()).hexdigest()
        return FileState(0, self.object.size, int(hashed[:15], 16))


def _dump(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


class TextCache(FileCache):
    """A cache on disk of the texts of pointers and records, by key and tag."""

    def find(self, key: str, tag: str) -> str | None:
        """Return the cached text of an object's version; None if it is not cached."""
        found = self.get(key, _state(tag))
        return found if isinstance(found, str) else None

    def store(self, key: str, tag: str, text: str) -> None:
        """Cache the text of an object's version."""
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.put(key, _state(tag), text)

    def _valid(self, found: dict[str, str]) -> Iterator[str]:
        yield from found.values()


def _state(tag: str) -> FileState:
    hashed = sha256(tag.encode()).hexdigest()
    return FileState(int(hashed[:12], 16), 0, int(hashed[12:27], 16))
