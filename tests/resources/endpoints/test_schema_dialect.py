"""JSON schemas in the dialect of an endpoint."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from stub.answers import stated_bounds

from memflow.chat.requests import schema_of
from memflow.resources.endpoints.profiles import PRESETS, Preset, Profile, profile_of
from memflow.resources.endpoints.schema_dialect import adapt, example


class Write(BaseModel):
    kind: Literal["write"]
    text: Annotated[str, Field(min_length=1, max_length=200, description="The text.")]


class Search(BaseModel):
    kind: Literal["search"]
    query: str = Field("", max_length=50)


class Step(BaseModel):
    maxLength: Annotated[int, Field(ge=1, le=9)]
    actions: Annotated[
        list[Annotated[Write | Search, Field(discriminator="kind")]], Field(min_length=1, max_length=3)
    ]


class Tree(BaseModel):
    children: list["Tree"]


SCHEMA = schema_of(Step)


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every object inside a schema, except the tables of properties and definitions."""
    if isinstance(schema, list):
        for item in schema:
            yield from parts(item)
    elif isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            for inner in value.values() if key in ("properties", "$defs") else [value]:
                yield from parts(inner)


def test_default_profile_does_not_change_a_schema() -> None:
    assert adapt(SCHEMA, Profile()) == SCHEMA


@pytest.mark.parametrize("preset", PRESETS)
def test_adapted_schema_has_no_keyword_that_the_preset_excludes(preset: Preset) -> None:
    profile = profile_of(preset)
    adapted = list(parts(adapt(SCHEMA, profile)))
    assert not [part for part in adapted if set(profile.schema_drop) & set(part)]
    if profile.schema_unions == "any_of":
        assert not [part for part in adapted if {"oneOf", "discriminator"} & set(part)]
    if profile.schema_inline:
        assert "$ref" not in json.dumps(adapted) and "$defs" not in adapted[0]
    assert adapted[0]["required"] == ["maxLength", "actions"]


def test_adapted_schema_descriptions_state_the_omitted_bounds_in_words() -> None:
    drop = ("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "default")
    adapted = adapt(SCHEMA, Profile(schema_drop=drop))
    text = adapted["$defs"]["Write"]["properties"]["text"]
    assert (
        text["description"] == "The text. Maximum length in characters: 200. Minimum length in characters: 1."
    )
    assert stated_bounds(text["description"]) == {"minLength": 1, "maxLength": 200}
    assert stated_bounds(adapted["properties"]["maxLength"]["description"]) == {"minimum": 1, "maximum": 9}
    assert stated_bounds(adapted["properties"]["actions"]["description"]) == {"minItems": 1, "maxItems": 3}
    assert SCHEMA["$defs"]["Write"]["properties"]["text"]["maxLength"] == 200  # the original does not change


def test_adapted_union_without_discriminator_has_all_options() -> None:
    items = adapt(SCHEMA, Profile(schema_unions="any_of"))["properties"]["actions"]["items"]
    assert items == {"anyOf": [{"$ref": "#/$defs/Write"}, {"$ref": "#/$defs/Search"}]}


def test_recursive_definition_stays_a_reference() -> None:
    adapted = adapt(schema_of(Tree), Profile(schema_inline=True))
    assert "Tree" in adapted["$defs"]


def test_example_is_an_answer_that_the_schema_allows() -> None:
    assert example(SCHEMA) == {"maxLength": 1, "actions": [{"kind": "write", "text": "some text"}]}
    assert example(schema_of(Tree)) == {"children": []}
    three = {"type": "array", "items": {"type": "boolean"}, "minItems": 3}
    assert (example(three, 1), example({"type": "string"})) == ([True] * 3, "some text")


def test_examples_of_many_requests_have_all_options() -> None:
    options = {"type": "string", "enum": ["A", "B", "C", "D"]}
    assert [example(options, number) for number in range(6)] == ["A", "B", "C", "D", "A", "B"]
