"""Narrowed output types behave as pydantic's classes with the same fields do."""

import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, create_model

from memflow.benchmarks.amemgym import answers
from memflow.chat.asking import parse_completion
from memflow.chat.requests import Completion, schema_of
from memflow.fingerprint import digest


def same_class(base: type[BaseModel], name: str, **fields: Any) -> type[BaseModel]:
    """Return the class that a narrowed type stands for."""
    return create_model(name, __base__=base, __doc__=base.__doc__, **fields)


class _Values(BaseModel):
    __doc__ = answers.Values.__doc__
    model_config = ConfigDict(extra="forbid")


VALUES = {"a_b": ["y", "x", "y"], "model_dump": ["u"]}
NAMES = ("a", "b")
MOVES = [
    same_class(
        answers.Move, f"Move_{digest(name, (value,))[:8]}", variable=Literal[name], value=Literal[value]
    )
    for name, value in (("c", "z"), ("d", "w"))
]
GROUP = same_class(
    answers.Group,
    "Group",
    variables=(list[Literal["a", "b"]], Field(min_length=1, max_length=2)),
)
CASES = [
    (
        answers.values_of(VALUES),
        same_class(
            _Values,
            "Values",
            v0=(Literal["x", "y"], Field(alias="a_b")),
            v1=(Literal["u"], Field(alias="model_dump")),
        ),
        [{"a_b": "x", "model_dump": "u"}, {"a_b": "z"}, {"a_b": "x", "model_dump": "u", "c": 1}, [], "x"],
    ),
    (
        answers.values_of(VALUES, optional=True),
        same_class(
            _Values,
            "Values",
            v0=(Literal["x", "y"] | None, Field(alias="a_b")),
            v1=(Literal["u"] | None, Field(alias="model_dump")),
        ),
        [{"a_b": None, "model_dump": "u"}, {"a_b": 3, "model_dump": None}, {"a_b": "x"}],
    ),
    (
        answers.updates_of({"c": ["z"], "d": ["w"]}, 1, 2),
        same_class(
            answers.Updates,
            "Updates",
            moves=(list[MOVES[0] | MOVES[1]], Field(min_length=1, max_length=2)),
        ),
        [
            {"summary": " s ", "moves": [{"variable": "c", "value": "z"}, {"variable": "d", "value": "w"}]},
            {"summary": "s", "moves": [{"variable": "c", "value": "w"}]},
            {"summary": "s", "moves": [3]},
            {"summary": "", "moves": []},
        ],
    ),
    (
        answers.groups_of(NAMES),
        same_class(answers.Groups, "Groups", groups=(list[GROUP], Field(min_length=1, max_length=2))),
        [
            {"groups": [{"variables": ["a", "b"], "text": " t "}]},
            {"groups": [{"variables": ["c"], "text": "t"}]},
            {"groups": [{"variables": [], "text": "t", "more": 1}]},
            {"groups": []},
        ],
    ),
]


@pytest.mark.parametrize(("narrowed", "expected", "texts"), CASES)
def test_narrowed_type_has_the_schema_and_the_errors_of_an_equal_class(narrowed, expected, texts) -> None:
    assert json.dumps(schema_of(narrowed)) == json.dumps(schema_of(expected))
    for value in texts:
        completion = Completion(json.dumps(value))
        (own, wrong), (wanted, error) = (parse_completion(completion, of) for of in (narrowed, expected))
        assert (wrong, own is None) == (error, wanted is None)
        if isinstance(own, answers.Values):
            assert own.chosen() == {
                k: v for k, v in wanted.model_dump(by_alias=True).items() if v is not None
            }
        elif own is not None:
            assert own.model_dump() == wanted.model_dump()
