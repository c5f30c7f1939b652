"""The judged sources: LongMemEval's questions by its own contracts, and the summaries of novels.

A summary is judged in three requests, as published: whether it is fluent, which key points it has, and how many of its
sentences the expert's summary supports. Its value is the F1 of the two shares, or 0 if it is not fluent.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval import judging as longmemeval
from memflow.benchmarks.memoryagentbench.answers import KeyPoints
from memflow.benchmarks.memoryagentbench.probes import TYPE
from memflow.benchmarks.memoryagentbench.question import PACKAGE
from memflow.benchmarks.memoryagentbench.sources import (
    ACCURACY,
    FLUENCY,
    SUMMARY_F1,
    SUMMARY_PRECISION,
    SUMMARY_RECALL,
)
from memflow.benchmarks.verdicts import MetricValue
from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt, load
from memflow.chat.requests import Chat
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Reply, Verdict

SUMMARY = (SUMMARY_F1, SUMMARY_RECALL, SUMMARY_PRECISION, FLUENCY)
_CONTRACTS = ("judge_fluency", "judge_key_points", "judge_sentences")


def judge_prompts() -> list[Prompt]:
    """Return the prompts of all contracts."""
    return [*(load(PACKAGE, stem) for stem in _CONTRACTS), *longmemeval.judge_prompts()]


async def judged_verdicts(
    domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
) -> list[Verdict]:
    """Return the verdicts of the judged probes, LongMemEval's first."""
    by_id = {probe.probe_id: probe for probe in probes}
    questions = [_question(probe) for probe in probes if probe.metric == ACCURACY]
    labels = await longmemeval.judge_verdicts(domain, questions, replies, backends)
    summaries = [probe for probe in probes if probe.metric == SUMMARY_F1]
    judged = await longmemeval.judge_verdicts(domain, summaries, replies, backends, _label_summary, SUMMARY)
    return [replace(row, category=by_id[row.probe_id].category) for row in (*labels, *judged)]


def _question(probe: Probe) -> Probe:
    """Return a probe of LongMemEval as its own benchmark has it: the category is its type, the gold a text."""
    types = [name.removeprefix(TYPE) for name in probe.slices if name.startswith(TYPE)]
    return replace(probe, category=next(iter(types), ""), gold="; ".join(json.loads(probe.gold)))


async def _label_summary(probe: Probe, response: str, judge: Chat) -> list[MetricValue]:
    points = "\n".join(f"{number}. {point}" for number, point in enumerate(probe.variants, 1))

    def unknown_point(found: KeyPoints) -> str | None:
        wrong = [number for number in found.supported if not 1 <= number <= len(probe.variants)]
        return f"there is no key point {wrong[0]}" if wrong else None

    asked: tuple[tuple[dict[str, str], Callable[[KeyPoints], str | None] | None], ...] = (
        ({}, None),
        ({"key_points": points}, unknown_point),
        ({"expert": json.loads(probe.gold)[0]}, None),
    )
    answers = await asyncio.gather(
        *(
            ask(judge, load(PACKAGE, stem), {**fields, "summary": response}, check=check)
            for stem, (fields, check) in zip(_CONTRACTS, asked, strict=True)
        )
    )
    fluency, found, sentences = (answer.value for answer in answers)
    if fluency is None or found is None or sentences is None:
        reasons = (answer.reason for answer in answers if answer.value is None)
        return longmemeval.missing_values(SUMMARY, next(reasons) or "the judge gave no answer")
    recall = len(set(found.supported)) / len(probe.variants) if probe.variants else 0.0
    precision = sentences.supported / sentences.sentences if sentences.sentences else 0.0
    f1 = fluency.fluency * 2 * recall * precision / (recall + precision) if recall + precision else 0.0
    values = (f1, recall, precision, float(fluency.fluency))
    return [
        MetricValue(metric, value, completion=answers[1].digest)
        for metric, value in zip(SUMMARY, values, strict=True)
    ]
