"""The judge's contracts, labels and verdicts."""

from collections.abc import Callable
from typing import Any

import pytest
from longmemeval_rows import domain, instance, reply, rows

from memflow.benchmarks.longmemeval.answers import is_unclear, read_label
from memflow.benchmarks.longmemeval.judging import contract_of, judge_prompts, judge_verdicts
from memflow.benchmarks.longmemeval.types import TYPES
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import ScriptedChat
from memflow.metrics.backends import MetricBackends
from memflow.records import Record

Read = Callable[[Any], list[Record]]


def judge(text: str) -> ScriptedChat:
    """Return a judge that always replies with a text."""
    return ScriptedChat({prompt.name: lambda request: text for prompt in judge_prompts()}, name=text)


@pytest.mark.parametrize(
    ("kind", "contract"),
    [
        ("single-session-user", "judge_answer"),
        ("single-session-assistant", "judge_answer"),
        ("multi-session", "judge_answer"),
        ("single-session-preference", "judge_preference"),
        ("temporal-reasoning", "judge_temporal"),
        ("knowledge-update", "judge_update"),
    ],
)
def test_contract_follows_the_type_and_abstention_replaces_it(kind: str, contract: str) -> None:
    assert contract_of("q1", kind) == contract
    assert contract_of("q1_abs", kind) == contract_of("q1_abs_2", kind) == "judge_abstention"


@pytest.mark.parametrize(
    ("text", "label", "unclear"),
    [
        ("yes", True, False),
        ("Yes.", True, False),
        ("no", False, False),
        ("**No**", False, False),
        ("No, yesterday is wrong", True, True),
        ("The response is correct", False, True),
    ],
)
def test_label_is_whether_the_reply_contains_yes(text: str, label: bool, unclear: bool) -> None:
    assert (read_label(text), is_unclear(text)) == (label, unclear)


async def test_request_has_question_gold_and_response_and_at_most_ten_tokens(read: Read) -> None:
    seen: list[ChatRequest] = []

    def note(request: ChatRequest) -> str:
        seen.append(request)
        return "yes"

    content = [instance(kind, kind) for kind in TYPES] + [instance("z_abs")]
    _, probes = await rows(domain(), read(content))
    chat = ScriptedChat({prompt.name: note for prompt in judge_prompts()})
    verdicts = await judge_verdicts(domain(), probes, [reply(each) for each in probes], MetricBackends(chat))
    assert len(seen) == len(probes) == 7
    assert {request.sampling.max_tokens for request in seen} == {10}
    assert {request.sampling.temperature for request in seen} == {0.0}
    assert all(request.fields["response"] == "in the jar" for request in seen)
    assert {row.value for row in verdicts if row.metric == "accuracy"} == {1.0}


async def test_missing_reply_judge_or_label_is_a_reason_and_no_value(read: Read) -> None:
    _, [first, second] = await rows(domain(), read([instance("a"), instance("b")]))
    failed = reply(second, parsed=None, text=None, reason="the server is down")
    found = await judge_verdicts(domain(), [first, second], [reply(first), failed], MetricBackends())
    reasons = [row.reason for row in found if row.metric == "accuracy"]
    assert [row.value for row in found] == [None] * 4
    assert "no judge is configured" in (reasons[0] or "") and reasons[1] == "the server is down"
    empty = MetricBackends(judge(" "))
    [row, _] = await judge_verdicts(domain(), [first], [reply(first)], empty)
    assert row.value is None and "no usable answer" in (row.reason or "")


async def test_several_judges_have_a_mean_and_a_variant_each(read: Read) -> None:
    _, [probe] = await rows(domain(), read([instance()]))
    backends = MetricBackends(judges={"mild": judge("yes"), "strict": judge("no")})
    found = await judge_verdicts(domain(), [probe], [reply(probe)], backends)
    values = {row.variant: row.value for row in found if row.metric == "accuracy"}
    assert values == {"standard": 0.5, "judge_mild": 1.0, "judge_strict": 0.0}
