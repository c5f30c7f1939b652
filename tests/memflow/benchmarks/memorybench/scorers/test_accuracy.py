import pytest

from memflow.benchmarks.memorybench.question import full_question
from memflow.benchmarks.memorybench.scorers.judged import accurate
from memflow.benchmarks.memorybench.scorers.scorer import NO_JUDGE, ScoringContext
from memflow.metrics.backends import MetricBackends

ROW, PUBLISHED = ("accuracy", "standard"), ("accuracy", "published_code")


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("Monica", "Monica"),
        ("monica", "Monica"),
        ("MONICA.", "monica"),
        ("  Monica \n", "Monica"),
        ("Central Perk.", "central perk"),
        ("September 22, 1994", "September 22, 1994"),
    ],
)
async def test_answer_equal_to_gold_scores_1_without_judge(judge, probe_of, marks_of, answer, gold) -> None:
    chat = judge()
    found = await marks_of(probe_of("dialsim_friends", gold), answer, chat)
    assert found[ROW].value == 1.0
    assert not chat.requests


@pytest.mark.parametrize("answer", ["Monica!", "It is Monica", "Monica..", "", "Mon ica"])
async def test_judge_scores_answer_that_differs_from_gold(judge, probe_of, marks_of, answer) -> None:
    for correct, value in ((True, 1.0), (False, 0.0)):
        chat = judge(dialsim_judge={"correct": correct})
        found = await marks_of(probe_of("dialsim_friends", "Monica", "Who is it?"), answer, chat)
        assert found[ROW].value == value
        assert chat.fields("dialsim_judge") == [
            {"question": "Who is it?", "gold": "Monica", "answer": answer}
        ]


async def test_published_code_judge_prompt_contains_the_whole_answer_prompt_as_question(
    judge, probe_of, marks_of
) -> None:
    probe, chat = probe_of("dialsim_friends", "Monica", "Who is it?"), judge(dialsim_judge={"correct": True})
    found = await marks_of(probe, "the cook", chat, published=True)
    assert {row: mark.value for row, mark in found.items()} == {ROW: 1.0, PUBLISHED: 1.0}
    questions = [fields["question"] for fields in chat.fields("dialsim_judge")]
    assert questions == ["Who is it?", full_question(probe)] and "Who is it?" in questions[1] != questions[0]
    equal = await marks_of(probe, "Monica", judge(), published=True)
    assert {row: mark.value for row, mark in equal.items()} == {ROW: 1.0, PUBLISHED: 1.0}


@pytest.mark.parametrize("nonsense", ["correct", "yes", "", '{"correct": "perhaps"}', "{}"])
async def test_judge_reply_unparsed_3_times_gives_null_score(judge, probe_of, marks_of, nonsense) -> None:
    chat = judge(dialsim_judge=nonsense)
    found = await marks_of(probe_of("dialsim_friends", "Monica"), "Rachel", chat)
    assert found[ROW].value is None
    assert "dialsim_judge: no usable answer in 3 attempts" in found[ROW].reason
    assert len(chat.requests) == 3


async def test_accurate_calls_the_judge_only_if_the_answer_differs_from_the_gold(judge, probe_of) -> None:
    probe = probe_of("dialsim_friends", "Monica")
    assert (await accurate(probe, "monica.", ScoringContext())).value == 1.0
    assert (await accurate(probe, "the cook", ScoringContext())).reason == NO_JUDGE
    context = ScoringContext(MetricBackends(judge(dialsim_judge={"correct": True})))
    assert (await accurate(probe, "the cook", context)).value == 1.0
