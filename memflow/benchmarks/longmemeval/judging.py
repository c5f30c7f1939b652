"""The judge's contracts by question type, and the accuracy verdicts.

The published label is whether the judge's reply, of at most ten tokens, contains `yes` in any case. All requests are
sent at once; the chats limit their number.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.answers import is_unclear, read_label
from memflow.benchmarks.longmemeval.question import prompt
from memflow.benchmarks.longmemeval.types import (
    ACCURACY,
    SINGLE_PREFERENCE,
    TEMPORAL,
    UNCLEAR,
    UPDATE,
    is_abstention,
)
from memflow.benchmarks.multiple_choice import ungradable_reason
from memflow.benchmarks.verdicts import (
    NO_JUDGE,
    MetricValue,
    judges_of,
    only_assistant,
    values_of_judges,
    verdict_rows,
)
from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Reply, Verdict

METRICS = (ACCURACY, UNCLEAR)
CONTRACTS = {
    "judge_answer": "gold",
    "judge_temporal": "gold",
    "judge_update": "gold",
    "judge_preference": "rubric",
    "judge_abstention": "explanation",
}
"""The field that contains the gold, by contract."""
_BY_TYPE = {
    TEMPORAL: "judge_temporal",
    UPDATE: "judge_update",
    SINGLE_PREFERENCE: "judge_preference",
}


Labeler = Callable[[Probe, str, Chat], Awaitable[list[MetricValue]]]
"""Return a judge's decision on a response to a probe."""


def contract_of(question_id: str, question_type: str) -> str:
    """Return the contract of a question: that of its type, or of abstention whatever its type."""
    return "judge_abstention" if is_abstention(question_id) else _BY_TYPE.get(question_type, "judge_answer")


def judge_prompts() -> list[Prompt]:
    """Return the judge's prompts, one per contract (what the judge is asked, and the gold field that it sees)."""
    return [prompt(stem) for stem in CONTRACTS]


async def label_answer(probe: Probe, response: str, judge: Chat) -> list[MetricValue]:
    """Return the published label of a response, under the contract of the question's type."""
    stem = contract_of(probe.probe_id, probe.category or "")
    fields = {"question": probe.question, CONTRACTS[stem]: probe.gold, "response": response}
    answer = await ask(judge, prompt(stem), fields)
    if answer.value is None:
        return missing_values(METRICS, answer.reason or "the judge gave no answer")
    values = {ACCURACY: read_label(answer.value), UNCLEAR: is_unclear(answer.value)}
    return [MetricValue(name, float(value), completion=answer.digest) for name, value in values.items()]


def missing_values(metrics: Sequence[str], reason: str) -> list[MetricValue]:
    """Return the metrics without values, with the reason."""
    return [MetricValue(metric, None, reason) for metric in metrics]


async def judge_verdicts(
    domain: Domain,
    probes: Sequence[Probe],
    replies: Sequence[Reply],
    backends: MetricBackends,
    label: Labeler = label_answer,
    metrics: Sequence[str] = METRICS,
) -> list[Verdict]:
    """Return the verdicts of each probe in order: the mean over judges, and each judge's if there are several.

    Another benchmark passes the `label` of its judge, which has values of `metrics`.
    """
    assistant = only_assistant(domain, replies)
    given = {reply.probe_id: reply for reply in replies}
    judges = judges_of(backends)

    async def values_of(probe: Probe) -> list[MetricValue]:
        reply = given.get(probe.probe_id)
        reason = ungradable_reason(probe, reply) or (None if judges else NO_JUDGE)
        if reason is not None or reply is None or reply.parsed is None:
            return missing_values(metrics, reason or "the probe has no reply")
        response = reply.parsed
        labels = await asyncio.gather(*(label(probe, response, judge) for judge in judges.values()))
        return values_of_judges(dict(zip(judges, labels, strict=True)))

    return verdict_rows(domain, assistant, probes, await asyncio.gather(*map(values_of, probes)))
