"""Replies -> verdicts -> figures: means of each metric over all, by data set and by category.

Every test probe has a verdict; a reply that is missing or failed has a null value with its reason, and
counts in the coverage only. Min-max and z scores over data sets are not made here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from memflow.benchmarks.benchmark import Measured
from memflow.benchmarks.memorybench.tasks.catalogue import LOCOMO_F1, ROUGE_L
from memflow.errors import BadInput
from memflow.fingerprint import seeded
from memflow.metrics.instruments import Instruments
from memflow.metrics.intervals import mean_interval
from memflow.metrics.text import locomo_f1, rouge_l
from memflow.records import Figure, Probe, Reply, Verdict

COVERAGE = 0.9
"""Share of the probes asked that must have a score for a figure to be shown."""


def _locomo(probe: Probe, answer: str) -> float:
    return locomo_f1(answer, probe.gold, probe.category or "")


def _rouge(probe: Probe, answer: str) -> float:
    return rouge_l(answer, probe.gold, "zh" if probe.language == "zh" else "en")


METRICS: Mapping[str, Callable[[Probe, str], float]] = {LOCOMO_F1: _locomo, ROUGE_L: _rouge}


async def verdicts(
    domain: str, probes: Sequence[Probe], replies: Sequence[Reply], instruments: Instruments
) -> list[Verdict]:
    """A verdict for each test probe, in order."""
    given = {reply.probe_id: reply for reply in replies}
    assistant = replies[0].assistant if replies else ""
    return [
        _verdict(domain, assistant, probe, given.get(probe.probe_id))
        for probe in probes
        if probe.split == "test"
    ]


def _verdict(domain: str, assistant: str, probe: Probe, reply: Reply | None) -> Verdict:
    if probe.metric not in METRICS:
        raise BadInput(f"probe {probe.probe_id}: MemoryBench has no metric {probe.metric!r}")
    reason = "there is no reply; answer this probe again" if reply is None else reply.reason
    answer = None if reply is None or reason is not None else reply.parsed
    if answer is None and reason is None:
        reason = "the reply holds no answer"
    return Verdict(
        domain=domain,
        assistant=assistant,
        probe_id=probe.probe_id,
        episode_id=probe.episode_id,
        checkpoint=probe.checkpoint,
        dataset=probe.dataset,
        category=probe.category,
        metric=probe.metric,
        value=None if answer is None else METRICS[probe.metric](probe, answer),
        reason=reason,
    )


def figures(measured: Measured, seed: int) -> list[Figure]:
    """For each metric: all of it, then by data set, then by category."""
    found = []
    for metric in dict.fromkeys(verdict.metric for verdict in measured.verdicts):
        rows = [verdict for verdict in measured.verdicts if verdict.metric == metric]
        slices: dict[str, list[Verdict]] = {"all": rows}
        for dataset in dict.fromkeys(row.dataset for row in rows):
            slices[f"dataset {dataset}"] = [row for row in rows if row.dataset == dataset]
        for category in sorted({row.category for row in rows if row.category is not None}):
            slices[f"category {category}"] = [row for row in rows if row.category == category]
        found += [_figure(measured, seed, name, part) for name, part in slices.items()]
    return found


def _figure(measured: Measured, seed: int, name: str, rows: Sequence[Verdict]) -> Figure:
    domain, metric = rows[0].domain, rows[0].metric
    scored = [row for row in rows if row.value is not None]
    values: dict[str, list[float]] = {}
    for row in scored:
        values.setdefault(row.episode_id, []).append(cast(float, row.value))
    # Probes of one episode share a history, so episodes are drawn. Where there is only one, probes are, and the
    # interval holds for that episode alone; n_episodes says so.
    drawn = (
        list(values.values()) if len(values) > 1 else [[value] for one in values.values() for value in one]
    )
    coverage = len(scored) / len(rows)
    shown = coverage >= COVERAGE
    mean = mean_interval(
        [sum(one) for one in drawn],
        [len(one) for one in drawn],
        seed=seeded(seed, domain, metric, name),
    )
    return Figure(
        domain=domain,
        assistant=measured.assistant,
        memory=measured.memory,
        model=measured.model,
        metric=metric,
        slice=name,
        value=mean.value if shown else None,
        low=mean.low if shown else None,
        high=mean.high if shown else None,
        n=len(scored),
        n_episodes=len(values),
        coverage=coverage,
        simulator=measured.simulator,
        scripted=measured.scripted,
        reason=None
        if shown
        else f"only {len(scored)} of {len(rows)} probes have a score; see their verdicts",
    )
