"""Output types with fewer values than their class, for a single request.

A class of its own for each request would validate alike. pydantic takes a hundred times longer to make one, with its
JSON schema, and a class takes 150 kB.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic_core import CoreSchema, SchemaValidator, core_schema


class Narrowed:
    """The output type `base` with other types of fields, which are given as pydantic's core schemas, and their schema.

    It stands for a class where only its name, `model_validate` and `model_json_schema` are used.
    """

    def __init__(self, base: type[BaseModel], core: CoreSchema, schema: dict[str, Any]) -> None:
        self.__name__ = base.__name__
        self.core = core
        self._schema = schema
        self._validator = SchemaValidator(core)

    def model_validate(self, value: Any, *, context: Any = None) -> Any:
        """Return the instance of the base class. Raises pydantic.ValidationError, as the class itself would."""
        return self._validator.validate_python(value, context=context)

    def model_json_schema(self) -> dict[str, Any]:
        """Return the JSON schema that pydantic would return for an equal class."""
        return self._schema


def literal(values: Iterable[str], *, optional: bool = False) -> tuple[CoreSchema, dict[str, Any]]:
    """Return the core schema and the JSON schema of one of these texts, sorted; `optional` allows null as well."""
    texts = sorted(set(values))
    allowed: dict[str, Any] = {"const": texts[0]} if len(texts) == 1 else {"enum": texts}
    core, schema = core_schema.literal_schema(texts), allowed | {"type": "string"}
    if not optional:
        return core, schema
    return core_schema.nullable_schema(core), {"anyOf": [schema, {"type": "null"}]}


def model_core(
    title: str,
    base: type[BaseModel],
    fields: Mapping[str, CoreSchema],
    build: Callable[[dict[str, Any]], BaseModel] | None = None,
) -> CoreSchema:
    """Return the core schema of a class with exactly these fields, all required.

    `build` returns an instance from the values of the fields; by default, they are fields of `base` as well.
    """
    make = build or (lambda values: base.model_construct(**values))
    parsed = core_schema.model_fields_schema(
        {name: core_schema.model_field(core) for name, core in fields.items()},
        model_name=title,
        extra_behavior="forbid",
    )
    # Not core_schema.model_schema, which would use the validator of the class itself.
    return core_schema.no_info_after_validator_function(lambda found: make(found[0]), parsed)


def model_json(title: str, base: type[BaseModel], properties: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the JSON schema of a class with these properties, all required. Each gets its title from its name."""
    return {
        "additionalProperties": False,
        "description": base.__doc__,
        "properties": {name: _titled(name, schema) for name, schema in properties.items()},
        "required": list(properties),
        "title": title,
        "type": "object",
    }


def union(choices: Sequence[tuple[str, CoreSchema]]) -> CoreSchema:
    """Return the core schema of one of the named choices."""
    if len(choices) == 1:
        return choices[0][1]
    return core_schema.union_schema([(core, name) for name, core in choices])


def _titled(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a property with its title, in pydantic's order of keys."""
    return dict(sorted({**schema, "title": name.title().replace("_", " ").strip()}.items()))
