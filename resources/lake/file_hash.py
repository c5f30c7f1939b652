"""Hashes of a Parquet file of the lake: of its footer and of the bytes before it, stored in the footer.

`memflow.content` is the hash of the rows as stored, that is, of all bytes before the footer. `memflow.footer_hash` is
the hash of the footer itself, with this value as zeros. Together they cover every byte. verification.py compares them.
"""

import hashlib
import re
import struct
from collections.abc import Iterator

import pyarrow as pa

from memflow.errors import BadInput

HASH_KEY = "memflow.footer_hash"
PLACEHOLDER = "0" * 32
"""The value of the footer hash while the footer is hashed."""
MAGIC = b"PAR1"
END_BYTES = 8
"""The length of the footer, and the magic bytes."""
TAIL_BYTES = 1 << 16
"""Bytes that the first read of a file takes from its end: most files are smaller."""
CHUNK_BYTES = 1 << 20
_HASH = re.compile(
    rb"\x18" + bytes([len(HASH_KEY)]) + re.escape(HASH_KEY.encode()) + rb"\x18\x20([0-9a-f]{32})\x00"
)
"""The key of the hash with its value, as Thrift's compact protocol writes two strings."""


class WrongHash(Exception):
    """The exception for a file that cannot be used, because its bytes changed; the message follows its name."""

    def __str__(self) -> str:
        return f"is damaged: {super().__str__()}"


class OtherColumns(WrongHash):
    """The exception for a file whose columns this version of memflow does not declare."""

    def __str__(self) -> str:
        return f"has other columns than this version of memflow: {self.args[0]}"


def footer_with_hash(footer: bytes) -> bytes:
    """Return the footer of a new file with its hash in place of the placeholder."""
    if _HASH.findall(footer) != [PLACEHOLDER.encode()]:
        raise BadInput(f"the metadata of a partition contains {HASH_KEY}. Rename this value.")
    return _with_value(footer, _hash_of(footer))


def check_footer(footer: bytes) -> None:
    """Compare a footer with its hash. Raises WrongHash."""
    found = _HASH.search(footer)
    if found is None:
        raise WrongHash("memflow did not write it, or the hash of its metadata is missing")
    if _hash_of(_with_value(footer, PLACEHOLDER.encode())) != found[1]:
        raise WrongHash("its metadata changed since it was written")


def read_footer(file: pa.NativeFile) -> bytes:
    """Return the footer of an open file with its end. Raises WrongHash if the file has none."""
    size = file.size()
    tail = _read(file, max(size - TAIL_BYTES, 0), min(size, TAIL_BYTES))
    if len(tail) < END_BYTES + len(MAGIC) or tail[-len(MAGIC) :] != MAGIC:
        raise WrongHash("its end is missing")
    length = int(struct.unpack("<I", tail[-END_BYTES : -len(MAGIC)])[0]) + END_BYTES
    if length > size:
        raise WrongHash("its end is damaged, or the file is incomplete")
    return tail[len(tail) - length :] if length <= len(tail) else _read(file, size - length, length)


def content_hash(file: pa.NativeFile, length: int) -> str:
    """Return the hash of the first `length` bytes of an open file."""
    running = hashlib.sha256()
    for chunk in _chunks(file, length):
        running.update(chunk)
    return running.hexdigest()[:32]


def _chunks(file: pa.NativeFile, length: int) -> Iterator[pa.Buffer]:
    file.seek(0)
    while length:
        chunk = file.read_buffer(min(length, CHUNK_BYTES))
        if not chunk.size:
            raise WrongHash("it is shorter than it was")
        yield chunk
        length -= chunk.size


def _with_value(footer: bytes, value: bytes) -> bytes:
    """Return a footer with another value of its first hash."""
    return _HASH.sub(lambda match: match[0].replace(match[1], value), footer, count=1)


def _read(file: pa.NativeFile, start: int, length: int) -> bytes:
    file.seek(start)
    return bytes(file.read(length))


def _hash_of(footer: bytes) -> bytes:
    return hashlib.blake2b(footer, digest_size=16).hexdigest().encode()
