"""Rows read from the pages of a SQLite file, without its tree of pages: what a damaged file still has.

Each leaf page of a table is read by itself (https://www.sqlite.org/fileformat2.html), in the file and in its
write-ahead log. A page may be an old copy, so callers use only rows whose checksum is right.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HEADER = 100
"""Bytes of the file header on the first page."""
_LEAF = 0x0D
_WAL_HEADER, _FRAME_HEADER = 32, 24
_LARGEST = 2**28
"""Maximum number of bytes of a row: a larger size is damaged."""
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def page_size(path: Path) -> int:
    """Return the page size of a file, which is 4,096 bytes if its header is damaged."""
    with path.open("rb") as file:
        header = file.read(HEADER)
    (size,) = struct.unpack(">H", header[16:18]) if len(header) == HEADER else (0,)
    return size if size >= 512 and size & (size - 1) == 0 else 4096


def rows_in_pages(path: Path, columns: int) -> Iterator[tuple[Any, ...]]:
    """Yield the rows with this number of columns in all leaf pages of a SQLite file and its write-ahead log."""
    size = page_size(path)
    with path.open("rb") as file:
        number = 1
        while page := _read(file, (number - 1) * size, size):
            yield from _rows(file, page, HEADER if number == 1 else 0, size, columns)
            number += 1
        wal = path.with_name(f"{path.name}-wal")
        if wal.is_file():
            with wal.open("rb") as log:
                start = _WAL_HEADER
                while page := _read(log, start + _FRAME_HEADER, size):
                    yield from _rows(file, page, 0, size, columns)
                    start += _FRAME_HEADER + size


def _read(file: Any, start: int, size: int) -> bytes:
    file.seek(start)
    page: bytes = file.read(size)
    return page if len(page) == size else b""


def _rows(file: Any, page: bytes, start: int, size: int, columns: int) -> Iterator[tuple[Any, ...]]:
    if page[start] != _LEAF:
        return
    (cells,) = struct.unpack_from(">H", page, start + 3)
    for cell in range(min(cells, size // 4)):
        try:
            (at,) = struct.unpack_from(">H", page, start + 8 + 2 * cell)
            length, at = _varint(page, at)
            _, at = _varint(page, at)
            row = _values(_payload(file, page, at, length, size), columns)
        except (IndexError, struct.error, ValueError):  # a damaged cell
            continue
        if row is not None:
            yield row


def _payload(file: Any, page: bytes, at: int, length: int, size: int) -> bytes:
    """Return the bytes of a row: those in its cell, and those in its overflow pages."""
    if length > _LARGEST:
        raise ValueError(length)
    least = (size - 12) * 32 // 255 - 23
    most = size - 35
    local = length
    if length > most:
        local = least + (length - least) % (size - 4)
        local = local if local <= most else least
    found = [page[at : at + local]]
    left = length - local
    if left:
        (number,) = struct.unpack_from(">I", page, at + local)
        while left > 0:
            overflow = _read(file, (number - 1) * size, size) if number else b""
            if not overflow:
                raise ValueError(number)
            (number,) = struct.unpack_from(">I", overflow)
            found.append(overflow[4 : 4 + left])
            left -= size - 4
    return b"".join(found)


def _values(payload: bytes, columns: int) -> tuple[Any, ...] | None:
    """Return the values of a row; None if it has another number of columns."""
    end, at = _varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    if len(kinds) != columns:
        return None
    values: list[Any] = []
    for kind in kinds:
        value, at = _value(payload, kind, at)
        values.append(value)
    return tuple(values)


def _value(payload: bytes, kind: int, at: int) -> tuple[Any, int]:
    if kind in (0, 8, 9):
        return (None, 0, 1)[max(0, kind - 7)], at
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if kind == 7:
        return struct.unpack_from(">d", payload, at)[0], at + 8
    if kind < 12:
        raise ValueError(kind)
    end = at + (kind - 12) // 2
    if end > len(payload):
        raise ValueError(kind)
    return (payload[at:end] if kind % 2 == 0 else payload[at:end].decode("utf-8", "backslashreplace")), end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for _ in range(8):
        byte = data[at]
        at += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at
    return value << 8 | data[at], at + 1
