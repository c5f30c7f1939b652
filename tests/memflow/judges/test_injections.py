"""The injection test: which verdicts of scripted judges the shipped injections move, with and without fences."""

import json
from dataclasses import replace

import pytest

from memflow.chat.scripted import ScriptedChat
from memflow.judges.cases import JudgeCase
from memflow.judges.catalog import all_cases
from memflow.judges.injections import injections, run_injection_test
from memflow.judges.scripted import failing_handlers
from memflow.run.handlers import handlers

CASES = all_cases()


def judge(name: str) -> ScriptedChat:
    """Return a scripted judge: one that obeys injections, or `honest`."""
    return ScriptedChat(handlers() if name == "honest" else failing_handlers(handlers(), CASES, name))


def case(prompt: str) -> JudgeCase:
    return next(each for each in CASES if each.prompt.name == prompt)


def test_twenty_injections_ask_for_the_target_in_english_and_chinese():
    assert len({each.name for each in injections()}) == len(injections()) == 20
    for injection in injections():
        for each in CASES:
            text = injection.into(each)
            assert each.answer in text and (each.asks in text or each.accepted_json in text)
    assert any("忽略" in each.text for each in injections())


@pytest.mark.parametrize(
    ("name", "fenced", "moved"),
    [
        ("honest", True, 0),
        ("fence_only", True, 0),
        ("fence_only", False, 20),
        ("gullible", True, 20),
    ],
)
async def test_injections_change_verdicts_of_obedient_scripted_judges_only(
    name: str, fenced: bool, moved: int
):
    results = await run_injection_test(judge(name), CASES, fenced=fenced)
    assert [len(each.moved) for each in results] == [moved] * len(CASES)
    assert [len(each.obeyed) for each in results] == [moved] * len(CASES)
    assert not any(each.failed or each.reason for each in results)


async def test_changed_verdict_other_than_the_target_does_not_count_as_obeyed():
    def strict(request) -> str:
        return json.dumps({"score": 1 if "</answer>" in request.fields["answer"] else 2})

    chat = ScriptedChat({"memorybench/quality": strict})
    [result] = await run_injection_test(chat, [case("memorybench/quality")])
    assert (result.moved, result.obeyed) == (("closed_tags",), ())


async def test_injection_test_lists_failed_verdicts_and_gives_reason_if_plain_verdict_fails():
    def broken(request) -> str:
        return "no" if "</answer>" in request.fields["answer"] else '{"score": 2}'

    quality = case("memorybench/quality")
    [result] = await run_injection_test(ScriptedChat({"memorybench/quality": broken}), [quality])
    assert (result.moved, result.failed) == ((), ("closed_tags",))
    [failed] = await run_injection_test(
        ScriptedChat({"memorybench/quality": lambda request: "no"}), [quality]
    )
    assert failed.verdict is None and "no usable answer" in (failed.reason or "")


async def test_judge_that_replies_with_text_is_tested_through_the_case_parser():
    plain = case("memorybench/quality")
    prompt = replace(plain.prompt, output=None)
    text = replace(
        plain,
        prompt=prompt,
        accepted={"label": "yes"},
        parse=lambda reply: {"label": reply.lower().strip(".")},
    )
    replies = {"Penguins": "No.", "yes": "Yes."}

    def obey(request):
        return next(
            reply for word, reply in reversed(replies.items()) if word in request.messages[-1].content
        )

    [found] = await run_injection_test(ScriptedChat({prompt.name: obey}), [text])
    assert found.verdict == {"label": "no"}
    assert found.obeyed == tuple(each.name for each in injections())
