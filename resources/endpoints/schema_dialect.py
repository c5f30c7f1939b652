"""JSON schemas in the dialect of an endpoint: omitted keywords, unions, inlined definitions; examples of answers.

Answers are validated against the full output type. A weaker schema on the wire is therefore safe; the descriptions
state the omitted keywords in words.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from memflow.resources.endpoints.profiles import Profile

WORDS: Mapping[str, str] = {
    "minLength": "Minimum length in characters: {}.",
    "maxLength": "Maximum length in characters: {}.",
    "minItems": "Minimum number of items: {}.",
    "maxItems": "Maximum number of items: {}.",
    "minimum": "Minimum: {}.",
    "maximum": "Maximum: {}.",
    "exclusiveMinimum": "Greater than: {}.",
    "exclusiveMaximum": "Less than: {}.",
    "multipleOf": "Multiple of: {}.",
    "uniqueItems": "Items are unique: {}.",
    "pattern": "Regular expression: {}.",
    "format": "Format: {}.",
}
"""The sentence for each keyword that bounds a value. Other omitted keywords, such as `default`, need none."""
_NAMED = ("properties", "$defs")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties")


def adapt(schema: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """Return a schema without the keywords, unions and references that the profile excludes."""
    dialect = _Dialect(schema.get("$defs", {}), profile)
    adapted = dialect.of(schema, ())
    if profile.schema_inline and not dialect.is_recursive:
        adapted.pop("$defs", None)
    return adapted


def example(schema: Mapping[str, Any], number: int = 0) -> Any:
    """Return a value that a schema allows, filled with short texts; arrays have one item or their minimum.

    `number` chooses among the values of an `enum`, so that no option is in the examples of all requests.
    """
    return _example(schema, schema.get("$defs", {}), (), number)


class _Dialect:
    def __init__(self, definitions: Mapping[str, Any], profile: Profile) -> None:
        self.definitions = definitions
        self.profile = profile
        self.is_recursive = False

    def of(self, part: Any, inside: tuple[str, ...]) -> Any:
        """Return a schema in the dialect. `inside` contains the definitions around an inlined definition."""
        if not isinstance(part, Mapping):  # a boolean schema
            return part
        if self.profile.schema_inline and "$ref" in part:
            name = part["$ref"].rpartition("/")[2]
            if name not in inside:
                siblings = {key: value for key, value in part.items() if key != "$ref"}
                return self.of({**self.definitions[name], **siblings}, (*inside, name))
            self.is_recursive = True
        any_of = self.profile.schema_unions == "any_of"
        adapted: dict[str, Any] = {}
        omitted: list[str] = []
        for key, value in part.items():
            if key in self.profile.schema_drop:
                omitted += [WORDS[key].format(json.dumps(value))] if key in WORDS else []
            elif key == "discriminator" and any_of:
                continue
            else:
                adapted["anyOf" if key == "oneOf" and any_of else key] = self._value(key, value, inside)
        if omitted:
            adapted["description"] = " ".join([*filter(None, [part.get("description")]), *omitted])
        return adapted

    def _value(self, key: str, value: Any, inside: tuple[str, ...]) -> Any:
        """Return the value of a keyword. Values that are not schemas, such as the values of `enum`, do not change."""
        if key in _NAMED:
            return {name: self.of(member, inside) for name, member in value.items()}
        if key in _LISTED:
            return [self.of(member, inside) for member in value]
        return self.of(value, inside) if key in _SINGLE else value


def _example(
    part: Mapping[str, Any], definitions: Mapping[str, Any], inside: tuple[str, ...], number: int
) -> Any:
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        return None if name in inside else _example(definitions[name], definitions, (*inside, name), number)
    if "const" in part:
        return part["const"]
    if "enum" in part:
        return part["enum"][number % len(part["enum"])]
    if options := part.get("anyOf") or part.get("oneOf"):
        return _example(options[0], definitions, inside, number)
    return _example_of_type(part, lambda inner: _example(inner, definitions, inside, number), number)


def _example_of_type(part: Mapping[str, Any], example_of: Callable[[Any], Any], number: int) -> Any:
    match part.get("type"):
        case "object":
            return {name: example_of(member) for name, member in part.get("properties", {}).items()}
        case "array":
            item = example_of(part.get("items", {}))
            return [] if item is None else [item] * max(1, part.get("minItems", 0))
        case "integer" | "number":
            return part.get("minimum", 1)
        case "boolean":
            return bool(number % 2)
    return f"some {str(part.get('title', 'text')).lower()}"
