"""JSON schemas in the dialect of an endpoint: omitted keywords, unions, inlined definitions; examples of answers.

Answers are validated against the full output type. A weaker schema on the wire is therefore safe; the descriptions
state the omitted keywords in words.
"""

import json
from collections.abc import Mapping
from typing import Any

from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.tables import WIRE_WORDS

BOUNDS: Mapping[str, str] = WIRE_WORDS["bounds"]
"""The sentence for each keyword that bounds a value. Other omitted keywords, such as `default`, need none."""
_NAMED = ("properties", "$defs")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties")


def adapt(schema: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """Return a schema without the keywords, unions and references that the profile excludes."""
    if not (profile.schema_drop or profile.schema_inline or profile.schema_unions == "any_of"):
        return {**schema}
    dialect = _Dialect(schema.get("$defs", {}), profile)
    adapted = dialect.of(schema, ())
    if profile.schema_inline and not dialect.is_recursive:
        adapted.pop("$defs", None)
    return adapted


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
                omitted += [BOUNDS[key].format(json.dumps(value))] if key in BOUNDS else []
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


def example(
    part: Mapping[str, Any],
    number: int = 0,
    definitions: Mapping[str, Any] | None = None,
    inside: tuple[str, ...] = (),
) -> Any:
    """Return a value that a schema allows, filled with short texts; arrays have one item or their minimum.

    `number` chooses among the values of an `enum`, so that no option is in the examples of all requests. `inside`
    contains the definitions around the schema: the example of a recursive one is None.
    """
    known = part.get("$defs", {}) if definitions is None else definitions
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        return None if name in inside else example(known[name], number, known, (*inside, name))
    if values := [part["const"]] if "const" in part else part.get("enum"):
        return values[number % len(values)]
    if options := part.get("anyOf") or part.get("oneOf"):
        return example(options[0], number, known, inside)
    if part.get("type") == "object":
        members = part.get("properties", {}).items()
        return {name: example(member, number, known, inside) for name, member in members}
    if part.get("type") == "array":
        item = example(part.get("items", {}), number, known, inside)
        return [] if item is None else [item] * max(1, part.get("minItems", 0))
    least = part.get("minimum", 1)
    simple = {"integer": least, "number": least, "boolean": bool(number % 2)}
    return simple.get(part.get("type", ""), f"some {str(part.get('title', 'text')).lower()}")
