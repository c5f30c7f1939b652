import json

import pytest

from memflow.benchmarks.memorybench.scorers.limitations import limitations

RATING, ACCURACY = ("rating", "standard"), ("accuracy", "standard")
GOLD = {"ground_truth": "No ablation of the reranker.", "category": "ablation"}
REPLY = json.dumps({"limitations": ["few data sets", "no ablation", "style"]})


def steps(*, belongs=True, number=4, scores=None):
    """`ablation` is the fourth kind of its aspect."""

    def by(values, name):
        def answer(request) -> str:
            value = values(request.fields["limitation"]) if callable(values) else values
            return json.dumps({"reason": "r", name: value} if name == "score" else {name: value})

        return answer

    return {
        "limitation_aspect": by(belongs, "belongs"),
        "limitation_kind": by(number, "number"),
        "limitation_score": by((scores or {}).get, "score"),
    }


async def test_rating_is_highest_score_of_limitations_of_the_planted_kind(judge, probe_of, marks_of) -> None:
    chat = judge(
        **steps(
            number=lambda said: 2 if said == "style" else 4, scores={"few data sets": 1, "no ablation": 4}
        )
    )
    found = await marks_of(probe_of("limitgen", GOLD), REPLY, chat)
    assert (found[RATING].value, found[ACCURACY].value) == (4, 1.0)
    assert len(chat.fields("limitation_aspect")) == 3 and len(chat.fields("limitation_score")) == 2
    assert chat.fields("limitation_kind")[0]["kinds"].count("\n") == 3


@pytest.mark.parametrize("stops", [{"belongs": False}, {"number": 1}, {"number": 0}])
async def test_reply_without_planted_limitation_has_rating_0(judge, probe_of, marks_of, stops) -> None:
    chat = judge(**steps(**stops))
    found = await marks_of(probe_of("limitgen", GOLD), REPLY, chat)
    assert (found[RATING].value, found[ACCURACY].value) == (0, 0.0)
    assert not chat.fields("limitation_score")


async def test_failed_judge_request_gives_null_only_if_the_score_needs_it(judge, probe_of, marks_of) -> None:
    broken = lambda request: "?" if request.fields["limitation"] == "style" else json.dumps({"belongs": True})  # noqa: E731
    scores = {"few data sets": 1, "no ablation": 3}
    chat = judge(**{**steps(scores=scores), "limitation_aspect": broken})
    found = await marks_of(probe_of("limitgen", GOLD), REPLY, chat)
    assert found[ACCURACY].value == 1.0
    assert found[RATING].value is None and "limitation_aspect" in found[RATING].reason
    chat = judge(**{**steps(scores={**scores, "no ablation": 5}), "limitation_aspect": broken})
    assert (await marks_of(probe_of("limitgen", GOLD), REPLY, chat))[RATING].value == 5
    chat = judge(**{**steps(number=0), "limitation_aspect": broken})
    found = await marks_of(probe_of("limitgen", GOLD), REPLY, chat)
    assert found[ACCURACY].value is None and found[RATING].value is None


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        (REPLY, ["few data sets", "no ablation", "style"]),
        (f"Here:\n```json\n{REPLY}\n```", ["few data sets", "no ablation", "style"]),
        ("<think>hm {</think>\n1. a\n2. b\n   more of b\n3. c\n4. d", ["a", "b more of b", "c"]),
        ('{"limitations": [{"limitation": "a", "why": "b"}, "c", "d", "e"]}', ["a b", "c", "d"]),
        ("- a\n- b", ["a", "b"]),
        ("The paper lacks an ablation.", ["The paper lacks an ablation."]),
        ('{"limitations": "all"}', ['{"limitations": "all"}']),
        ("", []),
    ],
)
def test_limitations_are_parsed_from_json_object_list_or_text(reply, read) -> None:
    assert limitations(reply) == read
