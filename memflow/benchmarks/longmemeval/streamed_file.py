"""A reader of large JSON lists, which holds one item at a time: the file of M has 2.7 GB.

memflow.benchmarks.published_file reads files as a whole. Both return the same records for the same file; here their
content is ASCII.
"""

import codecs
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.published_file import File, add_records, require_valid
from memflow.benchmarks.raw_records import RawRecord
from memflow.records import Record

BLOCK = 1 << 20
"""Bytes that are read at a time."""
_SPACE = " \t\n\r"
_NUMBER = "0123456789.eE+-"
_DECODER = json.JSONDecoder()


def streamed_records(
    dataset: Dataset,
    files: Mapping[str, Path],
    item: str,
    parse: Callable[[Iterable[RawRecord]], Iterable[RawRecord]],
) -> list[Record]:
    """Return the records of files that each contain one JSON list, with the errors of `records_of`.

    An item is located as `ITEM NUMBER`. `parse` validates items, as `parse_records` does.
    """
    records: list[Record] = []
    seen: set[str] = set()
    file = None
    for source, path in files.items():
        with path.open("rb") as stream:
            file = File(dataset, source, b"", hashlib.file_digest(stream, "sha256").hexdigest())
        add_records(file, parse(list_items(file, path, item)), records, seen, ascii_only=True)
    if file is not None and records:
        require_valid(file, records, fewest=1)
    return records


def list_items(file: File, path: Path, item: str, block: int = BLOCK) -> Iterator[RawRecord]:
    """Yield the items of a non-empty JSON list in a file. Raises BadInput if the file contains anything else."""
    with path.open("rb") as stream:
        text = _Text(stream, block)
        number = 0
        try:
            if text.next() != "[" or text.peek() in ("]", ""):
                raise file.bad(f"the file is not a JSON list of {item}s, or the list is empty")
            following = ","
            while following == ",":
                yield RawRecord(f"{item} {number}", text.value())
                number += 1
                following = text.next()
            if following != "]":
                raise ValueError(f"expected `,` or `]` after {item} {number - 1}")
            if text.peek():
                raise ValueError(f"there is text after the list of {item}s")
        except UnicodeDecodeError as error:
            raise file.bad(f"the file is not UTF-8 ({error.reason})") from error
        except (ValueError, RecursionError) as error:
            raise file.bad(f"the file is truncated or invalid JSON ({error})") from error


class _Text:
    """The text of a stream, of which only the part that is being parsed is in memory."""

    def __init__(self, stream: BinaryIO, block: int) -> None:
        self._stream, self._block = stream, block
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text = ""

    def peek(self) -> str:
        """Return the next character that is not a space, or "" at the end of the stream."""
        self._text = self._text.lstrip(_SPACE)
        while not self._text and self._extend(self._block):
            self._text = self._text.lstrip(_SPACE)
        return self._text[:1]

    def next(self) -> str:
        """Return the next character that is not a space, and move behind it."""
        character = self.peek()
        self._text = self._text[1:]
        return character

    def value(self) -> Any:
        """Parse the next JSON value, and move behind it. Raises ValueError.

        A value that does not end in the text so far is parsed again after twice as much text was read.
        """
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text)
            except json.JSONDecodeError:
                if not self._extend(len(self._text)):
                    raise
                continue
            if not self._text[end:].strip(_NUMBER) and self._extend(self._block):
                continue  # a number may go on
            self._text = self._text[end:]
            return value

    def _extend(self, size: int) -> bool:
        """Read about so many bytes. Return False at the end of the stream."""
        content = self._stream.read(max(size, self._block))
        self._text += self._decode(content, final=not content)
        return bool(content)
