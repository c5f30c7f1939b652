"""A reader of large JSON lists, which holds one item at a time instead of the whole file.

memflow.benchmarks.published_file reads files as a whole. Both return the same records for the same file; here their
content is ASCII.
"""

import codecs
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.published_file import File, add_records, require_valid
from memflow.benchmarks.raw_records import RawRecord
from memflow.records import Record

BLOCK = 1 << 20
"""Bytes that are read at a time."""
_NEAR = 16
"""Characters before the end of the text so far, in which an error may come from a token that is not complete."""
_DECODER = json.JSONDecoder()
_NUMBER = re.compile("[0-9.eE+-]*")
"""What may follow the part of a number that was parsed."""
_SPACE = re.compile(r"[ \t\n\r]*")


def streamed_records(
    dataset: Dataset,
    files: Mapping[str, Path],
    item: str,
    parse: Callable[[Iterable[RawRecord]], Iterable[RawRecord]] = lambda raws: raws,
) -> list[Record]:
    """Return the records of files that each contain one JSON list, with the errors of `records_of`.

    An item is located as `ITEM NUMBER`. `parse` validates items, as `parse_records` does.
    """
    found: list[Record] = []
    seen: set[str] = set()
    file = None
    for source, path in files.items():
        with path.open("rb") as opened:
            file = File(dataset, source, b"", hashlib.file_digest(opened, "sha256").hexdigest())
        add_records(file, parse(list_items(file, path, item)), found, seen, ascii_only=True)
    if file is not None and found:
        require_valid(file, found, fewest=1)
    return found


def list_items(file: File, path: Path, item: str, block: int = BLOCK) -> Iterator[RawRecord]:
    """Yield the items of a non-empty JSON list in a file. Raises BadInput if the file contains anything else."""
    text = _Text(path, block)
    try:
        if text.next() != "[":
            raise file.bad(f"the file is not a JSON list of {item}s, or the list is empty")
        number, following = 0, text.peek()
        if following == "]":
            raise file.bad(f"the file is not a JSON list of {item}s, or the list is empty")
        while following != "]":
            yield RawRecord(f"{item} {number}", text.value())
            number += 1
            following = text.next()
            if following not in (",", "]"):
                raise ValueError(f"after {item} {number - 1}: expected , or ]")
        if text.peek():
            raise ValueError("data after the end of the list")
    except UnicodeDecodeError as wrong:
        raise file.bad(f"the file is not UTF-8 ({wrong.reason})") from wrong
    except (ValueError, RecursionError) as wrong:
        raise file.bad(f"the file is truncated or invalid JSON ({wrong})") from wrong


class _Text:
    """The text of a file, of which only the part that is being parsed is in memory."""

    def __init__(self, path: Path, block: int) -> None:
        self._path, self._block = path, block
        self._blocks = self._read()
        self._text, self._at = "", 0

    def peek(self) -> str:
        """Return the next character that is not a space, or "" at the end of the file."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._extend():
                return ""

    def next(self) -> str:
        """Return the next character that is not a space, and move behind it."""
        found = self.peek()
        self._at += len(found)
        return found

    def value(self) -> Any:
        """Parse the next JSON value, and move behind it. Raises ValueError.

        A value that does not end in the text so far is parsed again after twice as much text was read, so that the time
        stays proportional to the length of the file.
        """
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as wrong:
                if self._is_certain(wrong) or not self._extend(max(1, len(self._text) - self._at)):
                    raise
                continue
            if _NUMBER.fullmatch(self._text, end) and self._extend():
                continue  # a number may go on in the next block
            self._at = end
            return value

    def _is_certain(self, wrong: json.JSONDecodeError) -> bool:
        """Return whether an error stays if more text is read: it lies before the end, and no string is open."""
        return wrong.pos < len(self._text) - _NEAR and not wrong.msg.startswith("Unterminated string")

    def _extend(self, characters: int = 1) -> bool:
        """Read at least so many characters, if the file has them. Return False at the end of the file."""
        parts = [self._text[self._at :]]
        added = 0
        while added < characters and (part := next(self._blocks, "")):
            parts.append(part)
            added += len(part)
        self._text, self._at = "".join(parts), 0
        return added > 0

    def _read(self) -> Iterator[str]:
        """Yield the text of the file, no part of which is empty."""
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        with self._path.open("rb") as file:
            while block := file.read(self._block):
                if text := decoder.decode(block):
                    yield text
        if text := decoder.decode(b"", final=True):
            yield text
