"""Output types: bounded fields, narrowed to the request."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from memflow.benchmarks.amemgym import answers
from memflow.chat.prompts import all_prompts

PACKAGE = "memflow.benchmarks.amemgym"


def unbounded(schema: Any, place: str = "") -> Iterator[str]:
    """Places in a JSON schema where a model could go on for ever."""
    if isinstance(schema, list):
        for number, item in enumerate(schema):
            yield from unbounded(item, f"{place}/{number}")
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "string" and not {"maxLength", "enum", "const"} & set(schema):
        yield place
    if schema.get("type") == "array" and "maxItems" not in schema:
        yield place
    if schema.get("type") == "integer" and not {"minimum", "maximum"} <= set(schema):
        yield place
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield place
    for key, value in schema.items():
        if key not in {"enum", "title", "description", "required"}:
            yield from unbounded(value, f"{place}/{key}")


def test_every_output_type_is_bounded():
    prompts = all_prompts(PACKAGE)
    assert {prompt.name.partition("/")[0] for prompt in prompts} == {"amemgym"}
    for prompt in prompts:
        assert prompt.max_tokens is not None
        if prompt.output is not None:
            assert list(unbounded(prompt.output.model_json_schema())) == [], prompt.name


@pytest.mark.parametrize(
    "narrowed",
    [
        answers.questions_of(4, 2, 3),
        answers.values_of({"a b": ["x", "y"], "copy": ["u"]}),
        answers.values_of({"model_dump": ["x", "y"]}, optional=True),
        answers.refinement_of(("a", "b c")),
        answers.choices_of(("a", "b c"), 3),
        answers.updates_of({"a b": ["x", "y"], "c": ["z"]}, 1, 2),
        answers.groups_of(("a", "b")),
        answers.answers_of(5),
        answers.choice_of(4),
    ],
)
def test_narrowed_output_types_are_bounded(narrowed):
    assert list(unbounded(narrowed.model_json_schema())) == []


def test_values_accept_any_variable_name():
    output = answers.values_of({"a b": ["x", "y"], "model_dump": ["u", "v"]})
    assert output.model_validate({"a b": "x", "model_dump": "v"}).chosen() == {"a b": "x", "model_dump": "v"}
    for wrong in ({"a b": "x"}, {"a b": "z", "model_dump": "u"}, {"a b": None, "model_dump": "u"}):
        with pytest.raises(ValidationError):
            output.model_validate(wrong)


def test_updates_accept_valid_changes_only():
    output = answers.updates_of({"a b": ["x", "y"], "c": ["z"], "d": ["x"]}, 1, 2)

    def said(*moves: tuple[str, str]) -> answers.Updates:
        return output.model_validate(
            {"summary": "s", "moves": [{"variable": n, "value": v} for n, v in moves]}
        )

    assert said(("a b", "y"), ("c", "z")).values() == {"a b": "y", "c": "z"}
    assert said(("c", "z"), ("c", "z")).fault() == "c: more than once"
    for wrong in ([], [("c", "x")], [("e", "x")], [("a b", "x"), ("c", "z"), ("d", "x")]):
        with pytest.raises(ValidationError):
            said(*wrong)


def test_null_values_are_omitted():
    output = answers.values_of({"a": ["x"], "b": ["y"]}, optional=True)
    assert output.model_validate({"a": None, "b": "y"}).chosen() == {"b": "y"}


def test_choice_accepts_option_numbers_only():
    for wrong in (0, 5, -1):
        with pytest.raises(ValidationError):
            answers.choice_of(4)(answer=wrong)
    assert answers.choice_of(4)(answer=4).answer == 4


def test_output_types_are_cached():
    assert answers.values_of({"a": ["x"]}) is answers.values_of({"a": ["x"]})
