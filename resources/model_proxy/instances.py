"""Values that satisfy a JSON schema, in which the strings are words of a given text, for the scripted chat.

It supports the schemas with which libraries request typed answers. Unlike the stub server's random values, these are
not random, and their strings can be found again by the words of the prompt.
"""

from collections.abc import Mapping
from typing import Any

DEPTH = 24
"""Maximum depth of a value; a schema that needs more refers to itself without an end."""
LONGEST = 10_000
"""Maximum `minItems`; other schemas would fill the memory."""
_FORMATS = {
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
    try:
        return _Instances(schema, " ".join(text.split()) or "text").of(schema, 0)
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, UnsupportedSchema):
            raise
        raise UnsupportedSchema(f"the schema is invalid: {error}") from error


class _Instances:
    def __init__(self, root: Mapping[str, Any], text: str) -> None:
        self.root = root
        self.text = text

    def of(self, part: Any, depth: int) -> Any:
        if depth > DEPTH:
            raise UnsupportedSchema(f"the schema is nested more than {DEPTH} times")
        if part is True or part == {}:
            return self.text
        if not isinstance(part, Mapping):
            raise UnsupportedSchema(f"{part!r} is no schema that has a value")
        for key, find in (("$ref", self._of_reference), ("allOf", self._of_all)):
            if part.get(key):
                return find(part, depth)
        for key in ("const", "default"):
            if key in part and (key == "const" or "properties" not in part):
                return part[key]
        if part.get("enum"):
            return part["enum"][0]
        return self._of_kinds(part, depth)

    def _of_reference(self, part: Mapping[str, Any], depth: int) -> Any:
        return self.of({**self._referred(str(part["$ref"])), **_without(part, "$ref")}, depth + 1)

    def _of_all(self, part: Mapping[str, Any], depth: int) -> Any:
        merged = _without(part, "allOf")
        for each in part["allOf"]:
            merged = _merged(merged, self._resolved(each))
        return self.of(merged, depth + 1)

    def _of_kinds(self, part: Mapping[str, Any], depth: int) -> Any:
        for key in ("anyOf", "oneOf"):
            if part.get(key):
                return self._first_of([{**_without(part, key), **each} for each in part[key]], depth)
        kinds = part.get("type")
        if isinstance(kinds, list):
            return self._first_of([{**part, "type": kind} for kind in kinds], depth)
        return self._of_type(kinds or ("object" if "properties" in part else "string"), part, depth)

    def _of_type(self, kind: str, part: Mapping[str, Any], depth: int) -> Any:
        match kind:
            case "object":
                return self._object(part, depth)
            case "array":
                return self._array(part, depth)
            case "string":
                return self._string(part)
            case "integer" | "number":
                return _number(kind, part)
            case "boolean":
                return False
            case "null":
                return None
        raise UnsupportedSchema(f"the type {kind!r} is unknown")

    def _first_of(self, parts: list[dict[str, Any]], depth: int) -> Any:
        """Return a value of the first schema that has one; null only if no other has one."""
        reasons: list[str] = []
        for part in sorted(parts, key=lambda part: part.get("type") == "null"):
            try:
                return self.of(part, depth + 1)
            except UnsupportedSchema as reason:
                reasons.append(str(reason))
        raise UnsupportedSchema(reasons[0])

    def _object(self, part: Mapping[str, Any], depth: int) -> dict[str, Any]:
        required = part.get("required", ())
        found: dict[str, Any] = {}
        for name, member in part.get("properties", {}).items():
            try:
                found[name] = self.of(member, depth + 1)
            except UnsupportedSchema:
                if name in required:
                    raise
        missing = [name for name in required if name not in found]
        return {
            **found,
            **{name: self.of(part.get("additionalProperties", {}), depth + 1) for name in missing},
        }

    def _array(self, part: Mapping[str, Any], depth: int) -> list[Any]:
        first = [self.of(each, depth + 1) for each in part.get("prefixItems", ())]
        least = max(part.get("minItems", 0), 0 if first or part.get("maxItems") == 0 else 1)
        if least > LONGEST:
            raise UnsupportedSchema(f"minItems is above {LONGEST}")
        try:
            return first + [self.of(part.get("items", {}), depth + 1) for _ in range(least - len(first))]
        except UnsupportedSchema:
            if part.get("minItems", 0) > len(first):
                raise
            return first

    def _string(self, part: Mapping[str, Any]) -> str:
        if "pattern" in part:
            raise UnsupportedSchema(f"the pattern {part['pattern']!r} is not supported")
        text = _FORMATS.get(str(part.get("format")), self.text)
        if len(text) < part.get("minLength", 0):
            raise UnsupportedSchema(f"no text of {part['minLength']} characters is known")
        return text[: part.get("maxLength", 400)]

    def _referred(self, place: str) -> Mapping[str, Any]:
        found: Any = self.root
        for name in place.removeprefix("#").strip("/").split("/"):
            found = found.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        if not isinstance(found, Mapping):
            raise UnsupportedSchema(f"the reference {place!r} leads nowhere")
        return found

    def _resolved(self, part: Any) -> Mapping[str, Any]:
        return self._referred(str(part["$ref"])) if "$ref" in part else part


def _without(part: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name != key}


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    properties = {**one.get("properties", {}), **other.get("properties", {})}
    required = list(dict.fromkeys([*one.get("required", ()), *other.get("required", ())]))
    added = {"properties": properties, "required": required} if properties else {}
    return {**one, **other, **added}


def _number(kind: str, part: Mapping[str, Any]) -> float | int:
    step = 1 if kind == "integer" else 0.5
    value: float = max(0, part.get("minimum", 0), part.get("exclusiveMinimum", -step) + step)
    value = min(value, part.get("maximum", value), part.get("exclusiveMaximum", value + step) - step)
    if "multipleOf" in part and value % part["multipleOf"]:
        raise UnsupportedSchema(f"no multiple of {part['multipleOf']} is known")
    return int(-(-value // 1)) if kind == "integer" else value
