"""One schema out of all questions: every old name under one new name, and one set of values for those joined."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from memflow.benchmarks.amemgym import AMemGym
from memflow.benchmarks.amemgym.answers import (
    RefinedVariable,
    Refinement,
    choices_of,
    refinement_of,
)
from memflow.benchmarks.amemgym.asker import Asker, GivenUp
from memflow.benchmarks.amemgym.schema import make_schema
from memflow.benchmarks.amemgym.sizes import Sizes
from memflow.chat.requests import Completion
from memflow.chat.scripted import ScriptedChat

QUESTIONS = {
    "What shall I cook?": {"budget": ["low", "high"], "company": ["alone", "guests"]},
    "Where shall I go?": {"travel_money": ["none", "plenty"], "season": ["summer", "winter"]},
}
SIZES = Sizes(questions=2, variables_per_question=2, choices_per_variable=2, min_variants=2)
JOINED = {"spending": ["budget", "travel_money"], "company": ["company"], "season": ["season"]}


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


def refined(names) -> dict:
    return {"variables": [{"name": name, "replaces": old} for name, old in names.items()]}


async def make(chat: Told):
    return await make_schema(SIZES, "name: Ida", "2020-10-01", Asker(chat, "en"))


async def test_a_question_names_the_joined_variable_and_its_values_are_those_of_the_second_request():
    chat = Told(questions=drafts(), refine=refined(JOINED), unify={"spending": ["tight", "easy"]})
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
    chat = Told(questions=drafts(same), refine=refined(JOINED))
    assert (await make(chat)).choices["spending"] == ["low", "high"]
    assert [each.prompt for each in chat.asked] == ["amemgym/questions", "amemgym/refine"]


async def test_one_name_with_different_values_in_two_questions_is_a_conflict():
    twice = {**QUESTIONS, "Where shall I go?": {"budget": ["none", "plenty"], "season": ["summer", "winter"]}}
    names = {"spending": ["budget"], "company": ["company"], "season": ["season"]}
    chat = Told(questions=drafts(twice), refine=refined(names), unify={"spending": ["tight", "easy"]})
    schema = await make(chat)
    assert schema.choices["spending"] == ["tight", "easy"]
    assert schema.questions["Where shall I go?"] == ["spending", "season"]


WRONG = [
    ({"spending": ["budget", "travel_money"], "company": ["company"]}, "no new name stands for season"),
    ({**JOINED, "more": ["season"]}, "season: more than once"),
    (
        {"spending": ["budget", "company"], "rest": ["travel_money"], "season": ["season"]},
        "have to stay apart",
    ),
]


@pytest.mark.parametrize(("names", "wrong"), WRONG)
async def test_a_refinement_that_loses_repeats_or_mixes_names_is_told_and_then_given_up(names, wrong):
    chat = Told(questions=drafts(), refine=refined(names))
    with pytest.raises(GivenUp, match=rf"amemgym/refine: no usable answer in 3 attempts.*{wrong}"):
        await make(chat)
    assert wrong in chat.asked[2].messages[-1].content


async def test_choices_that_repeat_a_value_are_given_up():
    chat = Told(questions=drafts(), refine=refined(JOINED), unify={"spending": ["easy", "easy"]})
    with pytest.raises(GivenUp, match="'spending' has a value twice"):
        await make(chat)


def test_two_new_names_alike_are_a_fault():
    rows = [RefinedVariable(name="x", replaces=["a"]), RefinedVariable(name="x", replaces=["b"])]
    assert Refinement(variables=rows).fault([["a"], ["b"]]) == "the new name 'x' stands there twice"


def test_answers_are_narrowed_to_the_request():
    output = refinement_of(("a", "b"))
    with pytest.raises(ValidationError):
        output.model_validate(refined({"x": ["c"]}))
    with pytest.raises(ValidationError):
        choices_of(("x",), 3).model_validate({"x": ["one", "two"]})
    with pytest.raises(ValidationError):
        choices_of(("x",), 2).model_validate({"x": ["one", "two"], "y": ["one", "two"]})


NAMES = ["a", "b", "c", "d", "e"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["x", "y", "z"]), st.lists(st.sampled_from(NAMES), min_size=1)), min_size=1
    )
)
def test_what_has_no_fault_leads_every_old_name_to_one_new_name(rows):
    refinement = Refinement(variables=[RefinedVariable(name=name, replaces=old) for name, old in rows])
    questions = [["a", "b"], ["b", "c"], ["d", "e"]]
    said = [old for _, replaced in rows for old in replaced]
    whole = sorted(said) == NAMES and len({name for name, _ in rows}) == len(rows)
    renamed = refinement.renamed()
    apart = whole and all(len({renamed[name] for name in names}) == 2 for names in questions)
    assert (refinement.fault(questions) is None) == apart
