"""Records of files before they become rows: location, content, id and fault. published_file.py reads them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ValidationError


class RecordFault(ValueError):
    """The exception for an invalid record. The other records of its file remain valid."""


@dataclass(frozen=True)
class RawRecord:
    """A record of a file: its location, such as `line 3`, its content and its id, which may be empty.

    `fault` states the error of an invalid record, which becomes a quarantined row.
    """

    where: str
    content: Any
    record_id: str = ""
    fault: str | None = None


def first_error(wrong: ValidationError) -> str:
    """Return the first error of a failed validation as text, with the path of the field."""
    error = wrong.errors(include_url=False, include_input=False)[0]
    return f"at {'.'.join(str(part) for part in error['loc']) or 'the top level'}: {error['msg']}"


def parse_records(
    records: Iterable[RawRecord], parse: Callable[[Any], tuple[str, Any] | None]
) -> Iterator[RawRecord]:
    """Yield each record with the id and content that `parse` returns. If this id is empty, the record keeps its id.

    `parse` raises ValidationError or RecordFault for an invalid record, and returns None to omit a record.
    """
    for record in records:
        if record.fault is not None:
            yield record
            continue
        try:
            found = parse(record.content)
        except ValidationError as wrong:
            yield replace(record, fault=first_error(wrong))
        except RecordFault as wrong:
            yield replace(record, fault=str(wrong))
        else:
            if found is not None:
                yield replace(record, record_id=found[0] or record.record_id, content=found[1])


def validated(shape: type[BaseModel], name: str = "") -> Callable[[Any], tuple[str, Any]]:
    """Return a `parse` that validates with `shape` and returns (id, content); field `name` has the id ("": no id)."""

    def parse(content: Any) -> tuple[str, Any]:
        value = shape.model_validate(content)
        return str(getattr(value, name)) if name else "", content

    return parse
