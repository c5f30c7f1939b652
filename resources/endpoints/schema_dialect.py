"""JSON schemas in the dialect of an endpoint: omitted keywords, unions, inlined definitions, and a skeleton of answers.

Answers are validated against the full output type. A weaker schema on the wire is therefore safe; the descriptions
state the omitted keywords in words.
"""

import json
from collections.abc import Mapping
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


def skeleton(schema: Mapping[str, Any]) -> Any:
    """Return a value of the schema's form, with a placeholder instead of each value; arrays have one item."""
    return _placeholder(schema, schema.get("$defs", {}), ())


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


def _placeholder(part: Mapping[str, Any], definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        return "<...>" if name in inside else _placeholder(definitions[name], definitions, (*inside, name))
    if "const" in part:
        return part["const"]
    if "enum" in part:
        return "<one of the values in enum>"
    options = part.get("anyOf") or part.get("oneOf")
    if options:
        return _placeholder(options[0], definitions, inside)
    return _form(part, definitions, inside)


def _form(part: Mapping[str, Any], definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    """Return the placeholder for an object, an array or a single value."""
    if part.get("type") == "object":
        members = part.get("properties", {}).items()
        return {name: _placeholder(member, definitions, inside) for name, member in members}
    if part.get("type") == "array":
        return [_placeholder(part.get("items", {}), definitions, inside)]
    return f"<{part.get('type', 'value')}>"
