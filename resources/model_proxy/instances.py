"""Values of JSON schemas, in which the strings are a given text, for the scripted chat.

It supports the schemas with which libraries request typed answers. Unlike the stub server's random values, these are
not random, and their strings can be found again by the words of the prompt.
"""

from collections.abc import Mapping
from typing import Any

DEEP, DEPTH = 12, 24
"""Depth from which a value is null or an empty list where it may be, and the maximum depth."""
FORMATS = {
    "date": "2024-01-01",
    "date-time": "2024-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "name@example.com",
    "uri": "https://example.com",
}
LONGEST_TEXT, MOST_ITEMS = 400, 1000
"""Maximum lengths of a text and of a list."""


class UnsupportedSchema(ValueError):
    """The exception for a schema of which no value is known."""


def schema_instance(schema: Mapping[str, Any], text: str) -> Any:
    """Return a value of a schema. Its strings are the start of `text`. Raises UnsupportedSchema."""
    words = " ".join(text.split()) or "text"
    try:
        return _value(schema, schema, words, 0)
    except (AttributeError, LookupError, TypeError, ArithmeticError) as error:
        raise UnsupportedSchema(f"the schema is invalid: {error}") from error


def _value(root: Mapping[str, Any], part: Mapping[str, Any], words: str, depth: int) -> Any:
    if depth > DEPTH:
        raise UnsupportedSchema(f"the schema is nested more than {DEPTH} times")
    if "const" in part or "default" in part:
        return part.get("const", part.get("default"))
    if part.get("enum"):
        return part["enum"][0]
    options = part.get("anyOf") or part.get("oneOf") or part.get("allOf")
    if "$ref" in part:
        referred: Any = root
        for name in filter(None, part["$ref"].removeprefix("#").split("/")):
            referred = referred[name]
        options = [referred]
    elif isinstance(part.get("type"), list):
        options = [{**part, "type": name} for name in part["type"]]
    if options:
        wanted = [option for option in options if (option.get("type") == "null") is (depth >= DEEP)]
        return _value(root, (wanted or options)[0], words, depth + 1)
    return _typed(root, part, words, depth)


def _typed(root: Mapping[str, Any], part: Mapping[str, Any], words: str, depth: int) -> Any:
    """Return a value of the type of a schema without references and alternatives."""
    value: Any = None
    match part.get("type") or ("object" if "properties" in part else "string"):
        case "object":
            members = part.get("properties", {})
            value = {name: _value(root, member, words, depth + 1) for name, member in members.items()}
        case "array":
            number = part.get("minItems", 0 if depth >= DEEP else 1)
            elements = part.get("prefixItems") or [part.get("items", {})] * min(number, MOST_ITEMS)
            value = [_value(root, element, words, depth + 1) for element in elements]
        case "string" if "pattern" not in part:
            value = FORMATS.get(str(part.get("format")), words)[: part.get("maxLength", LONGEST_TEXT)]
        case "integer" | "number" as kind:
            value = _number(part, 1 if kind == "integer" else 0.5)
        case "boolean":
            value = False
        case kind if kind != "null":
            raise UnsupportedSchema(f"no value of {dict(part)} is known")
    return value


def _number(part: Mapping[str, Any], step: float) -> float:
    value: float = max(0, part.get("minimum", 0), part.get("exclusiveMinimum", -step) + step)
    return min(value, part.get("maximum", value), part.get("exclusiveMaximum", value + step) - step)
