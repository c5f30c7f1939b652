"""The judge's contracts by question type, and the accuracy verdicts.

The published label is whether the judge's reply, of at most ten tokens, contains `yes` in any case. All requests are
sent at once; the chats limit their number.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

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
from memflow.benchmarks.verdicts import only_assistant, verdict_row
from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Reply, Verdict
from memflow.scoring.judges import JudgedValue, average_judges

NO_JUDGE = "no judge is configured; set its model under `roles` in memflow.toml"
METRICS = (ACCURACY, UNCLEAR)
CONTRACTS = {
    "judge_answer": "gold",
    "judge_temporal": "gold",
    "judge_update": "gold",
    "judge_preference": "rubric",
    "judge_abstention": "explanation",
}
"""The field that contains the gold, by contract."""
_BY_TYPE = {TEMPORAL: "judge_temporal", UPDATE: "judge_update", SINGLE_PREFERENCE: "judge_preference"}


class Label(NamedTuple):
    """A judge's decision on a reply: the values by metric, and the ledger's digest of its completion."""

    values: Mapping[str, JudgedValue]
    completion: str | None = None


Labeler = Callable[[Probe, str, Chat], Awaitable[Label]]
"""Return a judge's decision on a response to a probe."""


def contract_of(question_id: str, question_type: str) -> str:
    """Return the contract of a question: that of its type, or of abstention whatever its type."""
    return "judge_abstention" if is_abstention(question_id) else _BY_TYPE.get(question_type, "judge_answer")


def judge_prompts() -> list[Prompt]:
    """Return the prompts of all contracts."""
    return [prompt(stem) for stem in CONTRACTS]


async def label_answer(probe: Probe, response: str, judge: Chat) -> Label:
    """Return the published label of a response, under the contract of the question's type."""
    stem = contract_of(probe.probe_id, probe.category or "")
    fields = {"question": probe.question, CONTRACTS[stem]: probe.gold, "response": response}
    answer = await ask(judge, prompt(stem), fields)
    if answer.value is None:
        return failed_label(answer.reason or "the judge gave no answer", METRICS)
    completion = (answer.completion.digest or None) if answer.completion else None
    values = {
        ACCURACY: JudgedValue(float(read_label(answer.value))),
        UNCLEAR: JudgedValue(float(is_unclear(answer.value))),
    }
    return Label(values, completion)


def failed_label(reason: str, metrics: Sequence[str]) -> Label:
    """Return the label without values of a judge that failed."""
    return Label(dict.fromkeys(metrics, JudgedValue(None, reason)))


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
    judges = dict(backends.judges) or ({"": backends.judge} if backends.judge is not None else {})

    async def labels_of(probe: Probe) -> dict[str, Label]:
        """Return the label of each judge by name. Without a judge or a reply, one label has the reason."""
        reply = given.get(probe.probe_id)
        reason = ungradable_reason(probe, reply) or (None if judges else NO_JUDGE)
        if reason is not None or reply is None or reply.parsed is None:
            return {"": failed_label(reason or "the probe has no reply", metrics)}
        response = reply.parsed
        return dict(
            zip(
                judges,
                await asyncio.gather(*(label(probe, response, judge) for judge in judges.values())),
                strict=True,
            )
        )

    def rows_of(probe: Probe, label: Label) -> list[Verdict]:
        return [
            verdict_row(domain, assistant, probe, metric, value, reason, completion=label.completion)
            for metric, (value, reason) in label.values.items()
        ]

    found = await asyncio.gather(*map(labels_of, probes))
    return [
        row
        for probe, labels in zip(probes, found, strict=True)
        for row in average_judges({name: rows_of(probe, label) for name, label in labels.items()})
    ]
