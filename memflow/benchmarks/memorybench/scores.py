"""Replies -> verdicts. Every test probe has one; a reply that is missing or failed has a null value with its reason.

What figures are made of them is figures.py's.
"""

from collections.abc import Callable, Mapping, Sequence

from memflow.benchmarks.memorybench.tasks.catalogue import LOCOMO_F1, ROUGE_L
from memflow.errors import BadInput
from memflow.metrics.instruments import Instruments
from memflow.metrics.text import locomo_f1, rouge_l
from memflow.records import Probe, Reply, Verdict


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
