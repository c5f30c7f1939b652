import json

import pytest

from memflow.benchmarks.memorybench.question import full_question

STANDARD, PUBLISHED = ("quality", "standard"), ("quality", "published_code")


@pytest.mark.parametrize("score", [1, 3, 5])
async def test_standard_judge_prompt_has_question_and_answer_only(judge, probe_of, marks_of, score) -> None:
    chat = judge(quality={"score": score})
    found = await marks_of(probe_of("nfcats", {}, "why is the sky blue"), "It scatters.", chat)
    assert {row: mark.value for row, mark in found.items()} == {STANDARD: score}
    assert chat.fields("quality") == [{"question": "why is the sky blue", "answer": "It scatters."}]


async def test_published_code_judge_prompt_has_question_with_task_prompt(judge, probe_of, marks_of) -> None:
    probe = probe_of("nfcats", {}, "why is the sky blue")

    def by_question(request) -> str:
        return json.dumps({"score": 2 if request.fields["question"] == full_question(probe) else 4})

    found = await marks_of(probe, "It scatters.", judge(quality=by_question), published=True)
    assert {row: mark.value for row, mark in found.items()} == {STANDARD: 4.0, PUBLISHED: 2.0}
