"""Hashes of a Parquet file of the lake: of its footer and of the bytes before it, stored in the footer.

`memflow.content` is the hash of the rows as stored, that is, of all bytes before the footer. `memflow.footer_hash` is
the hash of the footer itself, with this value as zeros. Together they cover every byte. `memflow.layout` states that a
file has a footer hash, so that a damaged name is no file of a former version. lake_verification.py compares the hashes.
"""

import hashlib
import re
import struct
from collections.abc import Iterator

import pyarrow as pa

from memflow.errors import BadInput

LAYOUT_KEY, LAYOUT = "memflow.layout", "2"
HASH_KEY = "memflow.footer_hash"
PLACEHOLDER = "0" * 32
"""The value of the footer hash while the footer is hashed."""
MAGIC = b"PAR1"
END_BYTES = 8
"""The length of the footer, and the magic bytes."""
TAIL_BYTES = 1 << 16
"""Bytes that the first read of a file takes from its end: most files are smaller."""
CHUNK_BYTES = 1 << 20

# A key with its value, as Thrift's compact protocol writes two strings.
_STORED = re.compile(
    rb"\x18" + bytes([len(HASH_KEY)]) + re.escape(HASH_KEY.encode()) + rb"\x18\x20([0-9a-f]{32})\x00"
)


class WrongHash(Exception):
    """The exception for a file whose bytes changed since it was written; the message is the reason."""


def footer_with_hash(footer: bytes) -> bytes:
    """Return the footer of a new file with its hash in place of the placeholder."""
    found = _STORED.findall(footer)
    if found != [PLACEHOLDER.encode()]:
        raise BadInput(f"the metadata of a partition contains {HASH_KEY}. Rename this value.")
    return _STORED.sub(lambda match: match[0].replace(match[1], _hash_of(footer)), footer)


def footer_length(tail: bytes) -> int:
    """Return the number of bytes of a footer with its end, given the last bytes of a file. Raises WrongHash."""
    if len(tail) < END_BYTES + len(MAGIC) or tail[-len(MAGIC) :] != MAGIC:
        raise WrongHash("its end is missing")
    return int(struct.unpack("<I", tail[-END_BYTES : -len(MAGIC)])[0]) + END_BYTES


def check_footer(footer: bytes) -> bool:
    """Return whether a footer has a hash; False for the footer of a former version. Raises WrongHash."""
    if LAYOUT_KEY.encode() not in footer and HASH_KEY.encode() not in footer:
        return False
    found = _STORED.search(footer)
    if found is None or LAYOUT_KEY.encode() not in footer:
        raise WrongHash("the hash of its metadata is missing")
    zeroed = footer[: found.start(1)] + PLACEHOLDER.encode() + footer[found.end(1) :]
    if _hash_of(zeroed) != found[1]:
        raise WrongHash("its metadata changed since it was written")
    return True


def read_footer(file: pa.NativeFile) -> bytes:
    """Return the footer of an open file with its end. Raises WrongHash if the file has none."""
    size = file.size()
    tail = _read(file, max(size - TAIL_BYTES, 0), min(size, TAIL_BYTES))
    length = footer_length(tail)
    if length > size:
        raise WrongHash("its end is damaged, or the file is incomplete")
    return tail[len(tail) - length :] if length <= len(tail) else _read(file, size - length, length)


def content_hash(file: pa.NativeFile, length: int, seed: str) -> str:
    """Return the hash of the first `length` bytes of an open file; `seed` is the hash of the table's columns."""
    running = hashlib.sha256(seed.encode())
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


def _read(file: pa.NativeFile, start: int, length: int) -> bytes:
    file.seek(start)
    return bytes(file.read(length))


def _hash_of(footer: bytes) -> bytes:
    return hashlib.blake2b(footer, digest_size=16).hexdigest().encode()
