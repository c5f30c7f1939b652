import pytest

from memflow.benchmarks.memorybench.question import full_question

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
