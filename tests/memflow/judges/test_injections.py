"""The injection test: which verdicts of scripted judges the shipped injections move, with and without fences."""

import json
from dataclasses import replace

import pytest

from memflow.benchmarks import registry
from memflow.chat.scripted import ScriptedChat
from memflow.judges.cases import JudgeCase
from memflow.judges.catalog import all_cases
from memflow.judges.injection_test import run_injection_test
from memflow.judges.injections import injections
from memflow.judges.scripted import obedient_handlers
from memflow.run.handlers import handlers

CASES = all_cases()
EVERY_PROMPT = {
    "memorybench": {"variants": ["published_code"]},
    "beam": {"contracts": ["published", "corrected"]},
}
"""Parameters with which a benchmark sends all prompts of its judges."""


def judge(name: str) -> ScriptedChat:
    """Return a scripted judge: one that obeys injections, or `honest`."""
    return ScriptedChat(handlers() if name == "honest" else obedient_handlers(handlers(), CASES, name))


def case(prompt: str) -> JudgeCase:
    return next(each for each in CASES if each.prompt.name == prompt)


def test_every_judge_prompt_has_an_injection_test_case_and_a_fenced_answer():
    judged = {
        prompt.name: prompt
        for domain in registry.domains().values()
        for table in ("score.verdicts", "score.claims")
        for prompt in registry.benchmark(domain.benchmark).judge_prompts(
            replace(domain, parameters={**domain.parameters, **EVERY_PROMPT.get(domain.benchmark, {})}), table
        )
    }
    assert judged.keys() == {each.prompt.name for each in CASES}
    assert all(each.field in each.prompt.untrusted for each in CASES)


def test_every_judged_metric_has_an_injection_test_case():
    metrics = {metric for benchmark in registry.benchmarks() for metric in benchmark.judged_metrics}
    metrics -= {"task_averaged_accuracy", "unclear_label"}  # computed from the labels of accuracy
    judged_together = registry.benchmark("halumem").judged_metrics  # four decisions have all of its metrics
    assert len(judged_together & {each.metric for each in CASES}) == 4
    metrics -= judged_together
    metrics -= {"event_f1", "event_precision", "event_list_recall"}  # computed from the labels of event_tau
    metrics -= {"j_recorded"}  # the labels of a recorded run, whose judge memflow does not call
    assert metrics <= {each.metric for each in CASES}


def test_twenty_injections_ask_for_the_target_in_english_and_chinese():
    assert len({each.name for each in injections()}) == len(injections()) == 20
    for injection in injections():
        for each in CASES:
            text = injection.into(each)
            assert each.answer in text and (each.asks in text or each.target_json in text)
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
    results = await run_injection_test(judge(name), CASES, injections(), fenced=fenced)
    assert [len(each.moved) for each in results] == [moved] * len(CASES)
    assert [len(each.obeyed) for each in results] == [moved] * len(CASES)
    assert not any(each.failed or each.reason for each in results)


async def test_changed_verdict_other_than_the_target_does_not_count_as_obeyed():
    def strict(request) -> str:
        return json.dumps({"score": 1 if "</answer>" in request.fields["answer"] else 2})

    chat = ScriptedChat({"memorybench/quality": strict})
    [result] = await run_injection_test(chat, [case("memorybench/quality")], injections())
    assert (result.moved, result.obeyed) == (("closed_tags",), ())


async def test_injection_test_lists_failed_verdicts_and_gives_reason_if_plain_verdict_fails():
    def broken(request) -> str:
        return "no" if "</answer>" in request.fields["answer"] else '{"score": 2}'

    quality = case("memorybench/quality")
    [result] = await run_injection_test(
        ScriptedChat({"memorybench/quality": broken}), [quality], injections()
    )
    assert (result.moved, result.failed) == ((), ("closed_tags",))
    [failed] = await run_injection_test(
        ScriptedChat({"memorybench/quality": lambda request: "no"}), [quality], injections()
    )
    assert failed.verdict is None and "no usable answer" in (failed.reason or "")


async def test_judge_that_replies_with_text_is_tested_through_the_case_parser():
    plain = case("memorybench/quality")
    prompt = replace(plain.prompt, output=None)
    text = replace(
        plain,
        prompt=prompt,
        asks="the label yes",
        target={"label": "yes"},
        parse=lambda reply: {"label": reply.lower().strip(".")},
    )
    replies = {"Penguins": "No.", "yes": "Yes."}

    def obey(request):
        return next(
            reply for word, reply in reversed(replies.items()) if word in request.messages[-1].content
        )

    [found] = await run_injection_test(ScriptedChat({prompt.name: obey}), [text], injections()[:2])
    assert found.verdict == {"label": "no"}
    assert found.obeyed == tuple(each.name for each in injections()[:2])
