import json

import pytest

from memflow.benchmarks.memorybench.scorers.ideas import hypotheses

GOLD = {"title": "Kites", "abstract": "kites fly on warm wind"}
IDEAS = ("kites fly on cold wind", "boats float on water", "stones sink")
REPLY = "\n---IDEA-SEPARATOR---\n".join(IDEAS)
NOVEL, FEASIBLE = ("novelty_rank", "standard"), ("feasibility_rank", "standard")


def ranking(*best_first: str):
    """Return a handler that ranks the given texts first, in this order, then the others in their order."""

    def answer(request) -> str:
        ideas = [(text, label) for label, text in request.fields["ideas"]]
        known = [label for wanted in best_first for text, label in ideas if text == wanted]
        rest = [label for text, label in ideas if text not in best_first]
        return json.dumps({"reason": "r", "order": known + rest})

    return answer


def shown(chat, stem: str) -> list[int]:
    """Return the position of the real abstract in each request."""
    return [[text for _, text in fields["ideas"]].index(GOLD["abstract"]) for fields in chat.fields(stem)]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("above", range(4))
async def test_idea_rank_score_is_share_of_hypotheses_ranked_above_the_real_idea(
    judge, probe_of, marks_of, encoders, above, place
) -> None:
    order = [*IDEAS[:above], GOLD["abstract"], *IDEAS[above:]]
    chat = judge(idea_novelty=ranking(*order), idea_feasibility=ranking(GOLD["abstract"]))
    found = await marks_of(probe_of("ideabench", GOLD), REPLY, chat, encoders=encoders, place=place)
    assert found[NOVEL].value == pytest.approx(above / 3)
    assert found[FEASIBLE].value == 0.0


async def test_real_idea_position_in_prompt_rotates_over_cases(judge, probe_of, marks_of, encoders) -> None:
    places = {"idea_novelty": [], "idea_feasibility": []}
    for place in range(8):
        chat = judge()
        await marks_of(probe_of("ideabench", GOLD), REPLY, chat, encoders=encoders, place=place)
        for stem, seen in places.items():
            seen.extend(shown(chat, stem))
    for seen in places.values():
        assert sorted(seen) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert all(one != other for one, other in zip(*places.values(), strict=True))


async def test_published_code_puts_real_idea_first_in_prompt(judge, probe_of, marks_of, encoders) -> None:
    lazy = lambda request: json.dumps({"reason": "r", "order": list("ABCD")})  # noqa: E731
    chat = judge(idea_novelty=lazy, idea_feasibility=lazy)
    found = await marks_of(probe_of("ideabench", GOLD), REPLY, chat, encoders=encoders, published=True)
    assert all(found[f"{name}_rank", "published_code"].value == 0 for name in ("novelty", "feasibility"))
    assert 0 in shown(chat, "idea_novelty") and 0 in shown(chat, "idea_feasibility")
    assert found["integrated", "published_code"].value is not None


async def test_hypothesis_with_best_bertscore_is_rated_and_used_in_merge_prompt(
    judge, probe_of, marks_of, encoders
) -> None:
    chat = judge(idea_rating={"reason": "r", "score": 6}, merge_idea={"score": 7})
    found = await marks_of(
        probe_of("ideabench", GOLD, "Refs"),
        "---IDEA-SEPARATOR---\n".join(IDEAS[::-1]),
        chat,
        encoders=encoders,
    )
    assert set(found) == {
        ("integrated", "standard"), ("bertscore[words,L1]", "standard"), ("llm_rating", "standard"), NOVEL, FEASIBLE,
    }  # fmt: skip
    assert found["integrated", "standard"].value == 7 and found["llm_rating", "standard"].value == 6
    assert 0.5 < found["bertscore[words,L1]", "standard"].value < 1
    assert chat.fields("idea_rating") == [{"hypothesis": IDEAS[0], "abstract": GOLD["abstract"]}]
    [merged] = chat.fields("merge_idea")
    assert merged["answer"] == IDEAS[0] and merged["gold"] == "Kites\nkites fly on warm wind"
    assert merged["bertscore"] == f"{found['bertscore[words,L1]', 'standard'].value:.2f}"
    assert merged["llm_rating"] == "6.00" and merged["background"] == "Refs"


@pytest.mark.parametrize(
    "order", [["A"], ["A", "B", "C"], ["A", "A", "B", "C"], list("ABCDA"), list("ABCE"), []]
)
async def test_invalid_idea_ranking_gives_null_rank_and_null_integrated_score(
    judge, probe_of, marks_of, encoders, order
) -> None:
    chat = judge(idea_novelty={"reason": "r", "order": order})
    found = await marks_of(probe_of("ideabench", GOLD), REPLY, chat, encoders=encoders)
    assert found[NOVEL].value is None and found[FEASIBLE].value is not None
    assert found["integrated", "standard"].value is None
    assert "not merged, for want of a measure: novelty_rank: " in found["integrated", "standard"].reason
    assert not chat.fields("merge_idea")


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        (REPLY, list(IDEAS)),
        (json.dumps({"hypotheses": [*IDEAS]}), list(IDEAS)),
        (json.dumps({"hypotheses": ["a", " ", "b", "c", "d"]}), ["a", "b", "c"]),
        ("one", ["one"]),
        ("**a.**---IDEA-SEPARATOR---b\n**Idea Separator**\nc", ["**a.", "b", "c"]),
        ("a\n---IDEA-SEPARATOR---\n\n---IDEA-SEPARATOR---\nb", ["a", "b"]),
        ("\n---IDEA-SEPARATOR---\n".join("abcde"), ["a", "b", "c"]),
    ],
)
def test_hypotheses_returns_texts_between_separators_of_a_reply(reply, read) -> None:
    assert hypotheses(reply) == read
