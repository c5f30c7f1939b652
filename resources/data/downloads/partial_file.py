"""A partial file and its sidecar: the address, the validator (ETag or date) and the size of the published file.

Parts of two versions of a file are never joined.
"""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import aiohttp

MOST_DIGITS = 19


@dataclass(frozen=True)
class Validator:
    """What identifies a version of a published file, as stored beside its partial file."""

    url: str
    etag: str = ""
    modified: str = ""
    size: int | None = None

    @property
    def condition(self) -> str:
        """The value of `If-Range`: a strong ETag or a date; empty if the server sent neither."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.modified


def validator_path(partial: Path) -> Path:
    """Return the path of the sidecar of a partial file."""
    return partial.with_name(f"{partial.name}.json")


def discard(partial: Path) -> None:
    """Remove a partial file and its sidecar."""
    partial.unlink(missing_ok=True)
    validator_path(partial).unlink(missing_ok=True)


def file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def read_validator(partial: Path, url: str) -> Validator | None:
    """Return the sidecar of a partial file; None if it is missing, damaged or of another address."""
    try:
        read = Validator(**json.loads(validator_path(partial).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return read if read.url == url else None


def write_validator(partial: Path, validator: Validator) -> None:
    """Write the sidecar before the first byte, and remove the bytes of another version."""
    partial.unlink(missing_ok=True)
    path = validator_path(partial)
    written = path.with_name(f"{path.name}.new")
    written.write_text(json.dumps(asdict(validator)), encoding="utf-8")
    written.replace(path)


def validator_of(response: aiohttp.ClientResponse, url: str) -> Validator:
    found = Validator(url, size=response.content_length)
    return replace(
        found, etag=response.headers.get("ETag", ""), modified=response.headers.get("Last-Modified", "")
    )


def continues(response: aiohttp.ClientResponse, known: Validator, have: int) -> bool:
    """Return whether a partial response continues the partial file: same version, next byte, same total size."""
    given = response.headers.get("Content-Range", "")
    unit, _, rest = given.partition(" ")
    first = rest.partition("-")[0]
    if unit != "bytes" or first != str(have) or total_size(response) not in (known.size, None):
        return False
    current = validator_of(response, known.url)
    return (not current.etag or current.etag == known.etag) and (
        not current.modified or current.modified == known.modified
    )


def total_size(response: aiohttp.ClientResponse) -> int | None:
    """Return the size of the whole file in `Content-Range`."""
    return byte_count(response.headers.get("Content-Range", "").rpartition("/")[2])


def byte_count(text: str) -> int | None:
    """Return a number of bytes in a header; None for any other text, or more digits than a size has."""
    return int(text) if text.isdecimal() and len(text) < MOST_DIGITS else None
