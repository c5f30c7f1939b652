"""One schema out of all questions: every old name under one new name, and one set of values for those joined."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from memflow.benchmarks.amemgym import AMemGym
from memflow.benchmarks.amemgym.answers import (
    choices_of,
    refinement_of,
)
from memflow.benchmarks.amemgym.config import Sizes
from memflow.benchmarks.amemgym.generation.schema import make_schema
from memflow.benchmarks.amemgym.generation.simulator import Asker, GivenUp
from memflow.chat.requests import Completion
from memflow.chat.scripted import ScriptedChat

QUESTIONS = {
    "What shall I cook?": {"budget": ["low", "high"], "company": ["alone", "guests"]},
    "Where shall I go?": {"travel_money": ["none", "plenty"], "season": ["summer", "winter"]},
}
SIZES = Sizes(questions=2, variables_per_question=2, choices_per_variable=2, min_variants=2)
JOINED = {"budget": "spending", "travel_money": "spending", "company": "company", "season": "season"}


class Told(ScriptedChat):
    """Says what it is told to by prompt, and keeps the requests."""

    def __init__(self, **said) -> None:
        super().__init__(AMemGym().handlers())
        self.said, self.asked = said, []

    async def complete(self, request):
        self.asked.append(request)
        return Completion(json.dumps(self.said[request.prompt.partition("/")[2]]))


def drafts(questions=QUESTIONS) -> dict:
    return {
        "questions": [
            {"question": text, "variables": [{"name": n, "values": v} for n, v in needed.items()]}
            for text, needed in questions.items()
        ]
    }


async def make(chat: Told):
    return await make_schema(SIZES, "name: Ida", "2020-10-01", Asker(chat, "en"))


async def test_a_question_names_the_joined_variable_and_its_values_are_those_of_the_second_request():
    chat = Told(questions=drafts(), refine=JOINED, unify={"spending": ["tight", "easy"]})
    schema = await make(chat)
    assert schema.choices == {
        "spending": ["tight", "easy"],
        "company": ["alone", "guests"],
        "season": ["summer", "winter"],
    }
    assert schema.questions == {
        "What shall I cook?": ["spending", "company"],
        "Where shall I go?": ["spending", "season"],
    }
    [request] = [each for each in chat.asked if each.prompt == "amemgym/unify"]
    assert json.loads(request.fields["merged"]) == {
        "spending": {"What shall I cook?": ["low", "high"], "Where shall I go?": ["none", "plenty"]}
    }


async def test_without_a_conflict_values_are_not_asked_for():
    same = {
        **QUESTIONS,
        "Where shall I go?": {"travel_money": ["high", "low"], "season": ["summer", "winter"]},
    }
    chat = Told(questions=drafts(same), refine=JOINED)
    assert (await make(chat)).choices["spending"] == ["low", "high"]
    assert [each.prompt for each in chat.asked] == ["amemgym/questions", "amemgym/refine"]


async def test_one_name_with_different_values_in_two_questions_is_a_conflict():
    twice = {**QUESTIONS, "Where shall I go?": {"budget": ["none", "plenty"], "season": ["summer", "winter"]}}
    names = {"budget": "spending", "company": "company", "season": "season"}
    chat = Told(questions=drafts(twice), refine=names, unify={"spending": ["tight", "easy"]})
    schema = await make(chat)
    assert schema.choices["spending"] == ["tight", "easy"]
    assert schema.questions["Where shall I go?"] == ["spending", "season"]


WRONG = [
    ({name: new for name, new in JOINED.items() if name != "season"}, "at season: Field required"),
    ({**JOINED, "more": "season"}, "at more: Extra inputs"),
    ({**JOINED, "season": "x" * 65}, "at season: String should have at most 64"),
    ({**JOINED, "company": "spending"}, "have to stay apart: budget, company"),
]


@pytest.mark.parametrize(("names", "wrong"), WRONG)
async def test_a_refinement_that_loses_adds_or_mixes_names_is_told_and_then_given_up(names, wrong):
    chat = Told(questions=drafts(), refine=names)
    with pytest.raises(GivenUp, match=rf"amemgym/refine: no usable answer in 3 attempts.*{wrong}"):
        await make(chat)
    assert wrong in chat.asked[2].messages[-1].content


async def test_choices_that_repeat_a_value_are_given_up():
    chat = Told(questions=drafts(), refine=JOINED, unify={"spending": ["easy", "easy"]})
    with pytest.raises(GivenUp, match="'spending' has a value twice"):
        await make(chat)


def test_answers_are_narrowed_to_the_request():
    with pytest.raises(ValidationError):
        choices_of(("x",), 3).model_validate({"x": ["one", "two"]})
    with pytest.raises(ValidationError):
        choices_of(("x",), 2).model_validate({"x": ["one", "two"], "y": ["one", "two"]})


NAMES = ("a", "b", "c", "d", "e")
APART = [["a", "b"], ["b", "c"], ["d", "e"]]


@given(st.fixed_dictionaries({name: st.sampled_from(["x", "y", "z"]) for name in NAMES}))
def test_names_of_one_question_stay_apart_and_others_may_be_joined(renamed):
    refinement = refinement_of(NAMES).model_validate(renamed)
    assert refinement.renamed() == renamed
    joined = any(renamed[one] == renamed[other] for one, other in APART)
    assert (refinement.fault(APART) is not None) == joined
