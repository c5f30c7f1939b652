"""Output types: bounded fields, narrowed to the request."""

import json

import pytest
from bounded_types import assert_bounded
from pydantic import ValidationError

from memflow.benchmarks.amemgym import answers
from memflow.benchmarks.amemgym.answers import Group, Portrait, Updates, Utterance

PACKAGE = "memflow.benchmarks.amemgym"


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
def test_output_type_built_for_a_request_is_bounded(narrowed):
    assert_bounded(narrowed)


def test_every_published_text_fits_its_output_type(base):
    users = [json.loads(record.content) for record in base.records]
    later = [period for user in users for period in user["periods"][1:]]
    for user in users:
        for period in user["periods"]:
            for session in period["sessions"]:
                for text in filter(None, (session["query"], session["event"])):
                    assert Group(variables=[*session["exposed_states"]], text=text).text == text.strip()
                Utterance(text=session["query"])
        Portrait(name=user["user_profile"]["name"], about=user["user_profile"]["complementary_info"])
    for period in later:
        moves = [{"variable": name, "value": each["new"]} for name, each in period["updates"].items()]
        Updates.model_validate({"summary": period["period_summary"], "moves": moves})


def test_updates_of_rejects_unknown_variables_values_and_excess_changes():
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


@pytest.mark.parametrize(
    ("output", "valid", "invalid"),
    [
        (
            answers.values_of({"a_b": ["y", "x", "y"], "model_dump": ["u"]}),
            {"a_b": "x", "model_dump": "u"},
            ({"a_b": "z", "model_dump": "u"}, {"a_b": "x"}, {"a_b": "x", "model_dump": "u", "c": 1}, []),
        ),
        (
            answers.values_of({"a_b": ["x"], "model_dump": ["u"]}, optional=True),
            {"a_b": None, "model_dump": "u"},
            ({"a_b": "x"}, {"a_b": 3, "model_dump": None}),
        ),
        (
            answers.groups_of(("a", "b")),
            {"groups": [{"variables": ["a", "b"], "text": "t"}]},
            ({"groups": []}, {"groups": [{"variables": ["c"], "text": "t"}]}),
        ),
    ],
)
def test_narrowed_type_accepts_exactly_the_names_and_values_of_the_request(output, valid, invalid):
    answer = output.model_validate(valid)
    assert answer.model_dump(by_alias=True) == valid
    if isinstance(answer, answers.Values):
        assert answer.chosen() == {name: value for name, value in valid.items() if value is not None}
    for wrong in invalid:
        with pytest.raises(ValidationError):
            output.model_validate(wrong)
