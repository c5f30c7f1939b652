"""Values of JSON schemas, in which the strings are words of a given text, for the scripted chat.

It supports the schemas with which libraries request typed answers. Unlike the stub server's random values, these are
not random, and their strings can be found again by the words of the prompt.
"""

from collections.abc import Callable, Mapping
from typing import Any

DEPTH = 24
"""Maximum depth of a value; a schema that needs more refers to itself without an end."""
LONGEST = 1000
"""Maximum `minItems`; other schemas would fill the memory."""
FORMATS = {
    "date": "2024-01-01",
    "date-time": "2024-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "name@example.com",
    "uri": "https://example.com",
}


class UnsupportedSchema(ValueError):
    """The exception for a schema of which no value is known."""


def schema_instance(schema: Mapping[str, Any], text: str) -> Any:
    """Return a value of a schema. Its strings are the start of `text`. Raises UnsupportedSchema."""
    words = " ".join(text.split()) or "text"

    def value_of(part: Any, depth: int) -> Any:
        if depth > DEPTH:
            raise UnsupportedSchema(f"the schema is nested more than {DEPTH} times")
        if not isinstance(part, Mapping):
            raise UnsupportedSchema(f"{part!r} is no schema that has a value")
        part = _resolved(schema, part)
        for key in ("const", "default"):
            if key in part and (key == "const" or "properties" not in part):
                return part[key]
        if part.get("enum"):
            return part["enum"][0]
        kind = part.get("type") or ("object" if "properties" in part else "string")
        options = part.get("anyOf") or part.get("oneOf")
        if options or isinstance(kind, list):
            return first_of(options or [{**part, "type": each} for each in kind], depth)
        makers: dict[str, Callable[[Mapping[str, Any], int], Any]] = {
            "object": object_of,
            "array": items_of,
            "string": string_of,
            "integer": _number,
            "number": _number,
            "boolean": lambda *_: False,
            "null": lambda *_: None,
        }
        if kind not in makers:
            raise UnsupportedSchema(f"the type {kind!r} is unknown")
        return makers[kind](part, depth)

    def first_of(options: list[Any], depth: int) -> Any:
        """Return a value of the first schema that has one; null only if no other has one."""
        reasons: list[str] = []
        for option in sorted(options, key=lambda option: option.get("type") == "null"):
            try:
                return value_of(option, depth + 1)
            except UnsupportedSchema as reason:
                reasons.append(str(reason))
        raise UnsupportedSchema(reasons[0])

    def object_of(part: Mapping[str, Any], depth: int) -> dict[str, Any]:
        members = part.get("properties", {})
        names = [*members, *(name for name in part.get("required", ()) if name not in members)]
        others = part.get("additionalProperties", {})
        return {name: value_of(members.get(name, others), depth + 1) for name in names}

    def items_of(part: Mapping[str, Any], depth: int) -> list[Any]:
        first = [value_of(each, depth + 1) for each in part.get("prefixItems", ())]
        least = part.get("minItems", 0)
        if least > LONGEST:
            raise UnsupportedSchema(f"minItems is above {LONGEST}")
        more = max(least, 0 if first or part.get("maxItems") == 0 else 1) - len(first)
        try:
            return first + [value_of(part.get("items", {}), depth + 1) for _ in range(more)]
        except UnsupportedSchema:
            if least > len(first):
                raise
            return first  # the end of a tree

    def string_of(part: Mapping[str, Any], depth: int) -> str:
        if "pattern" in part:
            raise UnsupportedSchema(f"the pattern {part['pattern']!r} is not supported")
        found = FORMATS.get(str(part.get("format")), words)
        if len(found) < part.get("minLength", 0):
            raise UnsupportedSchema(f"no text of {part['minLength']} characters is known")
        return found[: part.get("maxLength", 400)]

    try:
        return value_of(schema, 0)
    except (AttributeError, LookupError, TypeError, ArithmeticError) as error:
        raise UnsupportedSchema(f"the schema is invalid: {error}") from error


def _resolved(root: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without `$ref` and `allOf`: with the keywords of the schemas to which they lead."""
    for _ in range(DEPTH):
        if "$ref" in part:
            referred: Any = root
            for name in str(part["$ref"]).removeprefix("#").strip("/").split("/"):
                referred = referred.get(name.replace("~1", "/").replace("~0", "~")) if name else referred
            if not isinstance(referred, Mapping):
                raise UnsupportedSchema(f"the reference {part['$ref']!r} leads nowhere")
            part = {**referred, **{key: value for key, value in part.items() if key != "$ref"}}
        elif part.get("allOf"):
            parts = [_resolved(root, each) for each in part["allOf"]]
            merged = {key: value for each in parts for key, value in each.items()}
            members = {name: value for each in parts for name, value in each.get("properties", {}).items()}
            required = [name for each in parts for name in each.get("required", ())]
            part = {**merged, **({"properties": members, "required": required} if members else {})}
        else:
            return part
    raise UnsupportedSchema(f"a reference leads through more than {DEPTH} others")


def _number(part: Mapping[str, Any], depth: int) -> float | int:
    step = 1 if part["type"] == "integer" else 0.5
    value: float = max(0, part.get("minimum", 0), part.get("exclusiveMinimum", -step) + step)
    value = min(value, part.get("maximum", value), part.get("exclusiveMaximum", value + step) - step)
    return int(-(-value // 1)) if part["type"] == "integer" else value
