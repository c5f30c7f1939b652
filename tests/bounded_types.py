"""Checks that an output type bounds every string, list, object and number.

Only a bounded type limits the tokens of an answer. Prompt tests call `assert_bounded` on every output type.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from memflow.chat.requests import schema_of

_BOUNDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "string": (("maxLength", "format"),),
    "array": (("maxItems",),),
    "integer": (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")),
    "number": (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")),
}
"""Per JSON type, the keywords of which one per group is required."""


def unbounded(output: type[BaseModel]) -> list[str]:
    """Return the unbounded parts of `output` and the bound that each lacks."""
    schema = schema_of(output)
    return [f"{output.__name__}{place}" for place in _open(schema, schema.get("$defs", {}), "", ())]


def assert_bounded(output: type[BaseModel]) -> None:
    """Raise AssertionError with every unbounded part of `output`."""
    places = unbounded(output)
    assert not places, "; ".join(places)


def _open(
    part: Mapping[str, Any], defs: Mapping[str, Any], place: str, inside: tuple[str, ...]
) -> Iterator[str]:
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        if name in inside:
            yield f"{place} contains itself ({name})"
        else:
            yield from _open(defs[name], defs, place, (*inside, name))
        return
    if "enum" in part or "const" in part:
        return
    for option in [*part.get("anyOf", ()), *part.get("oneOf", ()), *part.get("allOf", ())]:
        yield from _open(option, defs, place, inside)
    kind = part.get("type")
    for group in _BOUNDS.get(str(kind), ()):
        if not any(bound in part for bound in group):
            yield f"{place} lacks {group[0]}"
    yield from _members(part, defs, place, inside)
    if kind is None and not {"anyOf", "oneOf", "allOf"} & set(part):
        yield f"{place} lacks a type"


def _members(
    part: Mapping[str, Any], defs: Mapping[str, Any], place: str, inside: tuple[str, ...]
) -> Iterator[str]:
    """Yield the unbounded parts inside the schema of an array or an object."""
    if part.get("type") == "array":
        for item in (part.get("items"), *part.get("prefixItems", ())):
            if item is not None:
                yield from _open(item, defs, f"{place}[]", inside)
    if part.get("type") == "object":
        for name, member in part.get("properties", {}).items():
            yield from _open(member, defs, f"{place}.{name}", inside)
        if "properties" not in part and part.get("additionalProperties", True) is not False:
            yield f"{place} lacks a fixed set of keys"
