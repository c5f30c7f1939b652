"""The judge's requests and verdicts, one function by kind of operation. All requests are sent at once.

Verdicts on extraction have the variant `raw_turns` where the texts are the messages themselves: the memory extracted
nothing, so its figures are not comparable with those of one that did.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.halumem import names
from memflow.benchmarks.halumem.answers import Accuracy, Integrity, Update
from memflow.benchmarks.halumem.config import parse_config
from memflow.benchmarks.halumem.load import INTERFERENCE
from memflow.benchmarks.halumem.probes import TEXTS, source_of
from memflow.benchmarks.halumem.question import prompt
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
from memflow.run.unasked import MESSAGES

NOTHING_ADDED = "the writes of the session added no text"
PROMPTS = ("judge_integrity", "judge_accuracy", "judge_update", "judge_answer")


def judge_prompts() -> list[Prompt]:
    """Return the prompts of all contracts."""
    return [prompt(stem) for stem in PROMPTS]


Decision = list[MetricValue]
"""The values of a decision on one thing: the means over judges, and each judge's if there are several."""


def decided(
    values: Mapping[str, float], variant: str = names.STANDARD, completion: str | None = None
) -> Decision:
    """Return a decision with these values by metric."""
    return [MetricValue(metric, value, None, variant, completion) for metric, value in values.items()]


def undecided(
    metrics: Sequence[str], reason: str, variant: str = names.STANDARD, completion: str | None = None
) -> Decision:
    """Return a decision without values."""
    return [MetricValue(metric, None, reason, variant, completion) for metric in metrics]


def integrity_values(score: int, is_interference: bool) -> dict[str, float]:
    """Return by metric: 1 if a point is covered, or a false one not, else 0; and half of `score` (0 to 2)."""
    covered = {names.RESISTANCE: float(score == 0)} if is_interference else {names.RECALL: float(score == 2)}
    return {**covered, names.GRADE: score / 2}


def result_values(result: str, results: Mapping[str, str]) -> dict[str, float]:
    """Return 1 for the metric of a result, 0 for those of the others. `results` has the result of each metric."""
    return {metric: float(name == result) for name, metric in results.items()}


def texts_of(reply: Reply | None) -> list[str]:
    """Return the texts of a reply to a probe that asks no answer."""
    return [str(text) for text in json.loads(reply.text)] if reply is not None and reply.text else []


@dataclass(frozen=True)
class Judging:
    """The judges of one assistant's replies. `written` are the replies with the texts of each session."""

    judges: Mapping[str, Chat]
    replies: Mapping[str, Reply]
    written: Mapping[tuple[str, int], Reply]
    update_k: int

    async def decisions(self, probe: Probe) -> list[Decision]:
        """Return the decisions on a probe's reply; on the texts of a session, one for each text."""
        reply = self.replies.get(probe.probe_id)
        metrics, variant = _metrics(probe), names.STANDARD
        if reply is not None and probe.kind == "written" and reply.parsed == MESSAGES:
            variant = names.RAW
        reason = ungradable_reason(probe, reply) or (None if self.judges else NO_JUDGE)
        if reason is not None or reply is None:
            return [undecided(metrics, reason or "the probe has no reply", variant)]
        if probe.category == TEXTS:
            return await self._texts(probe, texts_of(reply), variant)
        if probe.kind == "written":
            return [await self._integrity(probe, reply, variant)]
        if probe.kind == "search":
            return await self._update(probe, reply)
        fields = {"question": probe.question, "gold": probe.gold, "evidence": probe.revealed}
        return [await self._ask(probe, "judge_answer", {**fields, "answer": reply.parsed or "(no answer)"})]

    async def _integrity(self, probe: Probe, reply: Reply | None, variant: str) -> Decision:
        """Return the decision on a point, without a request if the writes of its session added nothing."""
        texts = "\n".join(texts_of(reply))
        if not texts.strip():
            return decided(integrity_values(0, source_of(probe) == INTERFERENCE), variant)
        return await self._ask(probe, "judge_integrity", {"texts": texts, "point": probe.gold}, variant)

    async def _update(self, probe: Probe, reply: Reply) -> list[Decision]:
        """Return the decision on an update; an empty search is an omission, and as published a point of extraction."""
        texts = texts_of(reply)
        if reply.ranked:
            texts = texts[: self.update_k]
        if texts:
            fields = {"texts": "\n".join(texts), "point": probe.gold, "old": probe.previous or ""}
            return [await self._ask(probe, "judge_update", fields)]
        omission = decided(result_values("Omission", names.UPDATE_RESULTS))
        session = self.written.get((probe.episode_id, probe.checkpoint))
        if session is not None and session.reason is not None:
            return [omission, undecided([names.GRADE], session.reason, names.PUBLISHED)]
        return [omission, await self._integrity(probe, session, names.PUBLISHED)]

    async def _texts(self, probe: Probe, texts: Sequence[str], variant: str) -> list[Decision]:
        """Return the mean decision on the texts of a session, and the decision on each."""
        if not texts:
            return [undecided([names.ACCURACY], NOTHING_ADDED, variant)]
        gold = json.loads(probe.gold)
        common = {"dialogue": gold["dialogue"], "points": "\n".join(gold["points"])}
        requests = (
            self._by_judge(probe, "judge_accuracy", {**common, "text": text}, f"{names.TEXT}{number}")
            for number, text in enumerate(texts, 1)
        )
        found = await asyncio.gather(*requests)
        means = {name: [_mean([row[name][0] for row in found], variant)] for name in self.judges}
        return [values_of_judges(by_judge) for by_judge in (means, *found)]

    async def _ask(
        self, probe: Probe, stem: str, fields: Mapping[str, str], variant: str = names.STANDARD
    ) -> Decision:
        return values_of_judges(await self._by_judge(probe, stem, fields, variant))

    async def _by_judge(
        self, probe: Probe, stem: str, fields: Mapping[str, str], variant: str
    ) -> dict[str, Decision]:
        """Return the decision of each judge by name."""
        answers = await asyncio.gather(*(ask(judge, prompt(stem), fields) for judge in self.judges.values()))
        metrics = (names.ACCURACY, names.INCLUDED) if stem == "judge_accuracy" else _metrics(probe)
        if variant == names.PUBLISHED:
            metrics = (names.RECALL, names.GRADE)
        return {
            name: undecided(metrics, answer.reason or "the judge gave no answer", variant, answer.digest)
            if answer.value is None
            else decided(_values(probe, answer.value), variant, answer.digest)
            for name, answer in zip(self.judges, answers, strict=True)
        }


def _values(probe: Probe, value: Any) -> dict[str, float]:
    """Return the values in a judge's answer."""
    if isinstance(value, Accuracy):
        return {names.ACCURACY: value.score / 2, names.INCLUDED: float(value.included)}
    if isinstance(value, Integrity):
        return integrity_values(value.score, source_of(probe) == INTERFERENCE)
    return result_values(value.result, names.UPDATE_RESULTS if isinstance(value, Update) else names.ANSWER)


def _metrics(probe: Probe) -> tuple[str, ...]:
    """Return the metrics of the verdicts on a probe."""
    if probe.category == TEXTS:
        return (names.ACCURACY,)
    if probe.metric == names.UPDATE["Correct"]:
        return tuple(names.UPDATE_RESULTS.values())
    return tuple(names.ANSWER.values()) if probe.kind == "open" else (probe.metric, names.GRADE)


def _mean(values: Sequence[MetricValue], variant: str) -> MetricValue:
    """Return the mean of the values of a session's texts, or the reason of the first that failed."""
    reason = next((row.reason for row in values if row.value is None), None)
    mean = None if reason else sum(row.value or 0.0 for row in values) / len(values)
    return MetricValue(names.ACCURACY, mean, reason, variant)


def written_by_session(probes: Sequence[Probe], replies: Mapping[str, Reply]) -> dict[tuple[str, int], Reply]:
    """Return the replies with the texts of each session, by episode and checkpoint."""
    return {
        (probe.episode_id, probe.checkpoint): replies[probe.probe_id]
        for probe in probes
        if probe.category == TEXTS and probe.probe_id in replies
    }


async def judge_operations(
    domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
) -> list[Verdict]:
    """Return the verdicts on all operations, in the order of `probes`."""
    assistant = only_assistant(domain, replies)
    by_probe = {reply.probe_id: reply for reply in replies}
    written, update_k = written_by_session(probes, by_probe), parse_config(domain).update_k
    judging = Judging(judges_of(backends), by_probe, written, update_k)
    found = await asyncio.gather(*map(judging.decisions, probes))
    return verdict_rows(domain, assistant, probes, map(chain.from_iterable, found))
