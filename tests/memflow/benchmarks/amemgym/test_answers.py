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


def test_values_of_accepts_names_of_attributes_and_rejects_other_names_and_values():
    output = answers.values_of({"copy": ["y", "x", "y"], "model_dump": ["u"]}, optional=True)
    assert output.model_validate({"copy": "x", "model_dump": None}).chosen() == {"copy": "x"}
    for wrong in ({"copy": "x"}, {"copy": "z", "model_dump": "u"}, {"copy": "x", "model_dump": "u", "c": 1}):
        with pytest.raises(ValidationError):
            output.model_validate(wrong)
