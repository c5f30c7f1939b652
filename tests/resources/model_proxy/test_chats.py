"""Values of JSON schemas: each satisfies its schema, also those of libraries that request typed answers."""

from enum import Enum
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field

from memflow.errors import RequestRefused
from memflow.resources.model_proxy.chats import schema_value

TEXT = "Ann moved to Oslo. She likes tea."


class Kind(Enum):
    PERSON = "person"
    PLACE = "place"


class Entity(BaseModel):
    name: str
    kind: Kind
    labels: list[str] = Field(min_length=1, max_length=3)
    weight: Annotated[float, Field(gt=0, le=1)]
    count: Annotated[int, Field(ge=3)] = 4
    summary: str | None
    valid_at: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    place: Optional["Entity"] = None


class Graph(BaseModel):
    entities: list[Entity]
    pairs: list[tuple[str, int]]
    facts: dict[str, str] = {}
    operation: Literal["add", "update"]


@pytest.mark.parametrize("strict", [False, True])
def test_value_of_a_model_is_valid(strict: bool) -> None:
    schema = Graph.model_json_schema()
    if strict:  # the form in which OpenAI's client sends a model
        from openai.lib._pydantic import to_strict_json_schema

        schema = to_strict_json_schema(Entity)
        found = Entity.model_validate(schema_value(schema, TEXT))
    else:
        found = Graph.model_validate(schema_value(schema, TEXT)).entities[0]
    assert found.name == TEXT
    assert found.summary == found.name


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, "words"),
        ({"type": "string", "maxLength": 3}, "wor"),
        ({"type": "string", "format": "date"}, "2024-01-01"),
        ({"type": ["null", "integer"]}, 0),
        ({"type": "integer", "exclusiveMinimum": 5}, 6),
        ({"type": "boolean"}, False),
        ({"const": 7}, 7),
        ({"enum": ["b", "a"]}, "b"),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, "words"),
        ({"allOf": [{"const": 3}]}, 3),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, [False, False]),
        ({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}]}, [1, 2]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"const": 3}}}, 3),
    ],
)  # fmt: skip
def test_value_of_a_schema(schema: Any, value: Any) -> None:
    assert schema_value(schema, "words") == value


def test_tree_ends_where_the_schema_allows_it() -> None:
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}
    assert isinstance(schema_value(tree, "words"), dict)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "string", "pattern": "^x$"},
        {"type": "strange"},
        {"$ref": "#/nowhere"},
        {"$ref": "#"},
        {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}},
        {"type": "object", "properties": [1]},
        {"enum": 3},
    ],
)
def test_schema_without_a_known_value_is_refused(schema: Any) -> None:
    with pytest.raises(RequestRefused, match="the scripted chat cannot answer"):
        schema_value(schema, "words")
