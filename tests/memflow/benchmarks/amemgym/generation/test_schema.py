"""Generation of the state schema: merged names, and new values for merged variables."""

import json

import pytest
from amemgym_agents import SpyChat

from memflow.benchmarks.amemgym.config import AMemGymConfig
from memflow.benchmarks.amemgym.generation.schema import GenerationFailed, UserSimulator, generate_schema

QUESTIONS = {
    "What shall I cook?": {"budget": ["low", "high"], "company": ["alone", "guests"]},
    "Where shall I go?": {"travel_money": ["none", "plenty"], "season": ["summer", "winter"]},
}
SIZES = AMemGymConfig(questions=2, variables_per_question=2, choices_per_variable=2, min_variants=2)
JOINED = {"budget": "spending", "travel_money": "spending", "company": "company", "season": "season"}


def drafts(questions=QUESTIONS) -> dict:
    return {
        "questions": [
            {"question": text, "variables": [{"name": n, "values": v} for n, v in needed.items()]}
            for text, needed in questions.items()
        ]
    }


async def make(chat):
    return await generate_schema(SIZES, "name: Ida", "2020-10-01", UserSimulator(chat, "en"))


async def test_merged_variable_with_conflicting_values_gets_values_from_unify_request():
    chat = SpyChat({"questions": drafts(), "refine": JOINED, "unify": {"spending": ["tight", "easy"]}})
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
    [request] = chat.asked("unify")
    assert json.loads(request.fields["merged"]) == {
        "spending": {"What shall I cook?": ["low", "high"], "Where shall I go?": ["none", "plenty"]}
    }


WRONG = [
    ({name: new for name, new in JOINED.items() if name != "season"}, "at season: Field required"),
    ({**JOINED, "more": "season"}, "at more: Extra inputs"),
    ({**JOINED, "season": "x" * 65}, "at season: String should have at most 64"),
    ({**JOINED, "company": "spending"}, "have to stay apart: budget, company"),
]


@pytest.mark.parametrize(("names", "wrong"), WRONG)
async def test_invalid_refine_replies_raise_generation_failed_with_fault(names, wrong):
    chat = SpyChat({"questions": drafts(), "refine": names})
    with pytest.raises(GenerationFailed, match=rf"amemgym/refine: no usable answer in 3 attempts.*{wrong}"):
        await make(chat)
    assert wrong in chat.requests[2].messages[-1].content


async def test_unified_variable_with_duplicate_values_raises_generation_failed():
    chat = SpyChat({"questions": drafts(), "refine": JOINED, "unify": {"spending": ["easy", "easy"]}})
    with pytest.raises(GenerationFailed, match="'spending' has a value twice"):
        await make(chat)
