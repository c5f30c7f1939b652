"""Verdicts on replies: the metrics of a probe's source, and the variant `published_code` of its primary metric.

The published code leaves an answer that failed out of the mean, so that a memory which fails on hard questions gains.
Here a reply that failed has no value and a reason, and counts in the coverage, below which a score is withheld; an
empty answer is wrong. The variant leaves both out.
"""

import json
from collections.abc import Iterator, Sequence

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memoryagentbench.answers import values
from memflow.benchmarks.memoryagentbench.judging import judged_verdicts
from memflow.benchmarks.memoryagentbench.sources import (
    EVENTS,
    EXACT,
    F1,
    PUBLISHED,
    RECALL_AT,
    ROUGE_METRICS,
    SUBSTRING,
    Family,
    family,
)
from memflow.benchmarks.verdicts import only_assistant, verdict_row
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Reply, Verdict
from memflow.scoring.judges import STANDARD

NO_ANSWER = "the answer is empty, and the published code leaves it out"


async def make_verdicts(
    domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
) -> list[Verdict]:
    """Return the verdicts of all probes in order, the primary metric of a probe first."""
    assistant = only_assistant(domain, replies)
    replies_by_probe = {reply.probe_id: reply for reply in replies}
    judged: dict[str, list[Verdict]] = {}
    for row in await judged_verdicts(domain, probes, replies, backends):
        judged.setdefault(row.probe_id, []).append(row)
    titles = {probe.episode_id: probe.variants for probe in probes if probe.variants}

    def rows(probe: Probe) -> Iterator[Verdict]:
        asked = family(probe.category or "")
        reply = replies_by_probe.get(probe.probe_id)
        reason, found = probe.reason, dict[str, float]()
        if reason is None and (reply is None or reply.text is None):
            reason = (reply and reply.reason) or "there is no reply"
        elif reason is None and asked is not None and reply is not None:
            known = titles.get(probe.episode_id, ())
            found = values(asked, reply.text or "", json.loads(probe.gold), known)
        for metric in _text_metrics(probe, asked):
            yield verdict_row(domain, assistant, probe, metric, found.get(metric), reason)
        yield from judged.get(probe.probe_id, ())
        for row in judged.get(probe.probe_id, ()):
            if row.metric == probe.metric and row.variant == STANDARD:
                reason = row.reason
                found |= {} if row.value is None else {probe.metric: row.value}
        blank = reason is None and not ((reply and reply.text) or "").strip()
        value = None if blank else found.get(probe.metric)
        why = NO_ANSWER if blank else reason
        yield verdict_row(domain, assistant, probe, probe.metric, value, why, variant=PUBLISHED)

    return [row for probe in probes for row in rows(probe)]


def _text_metrics(probe: Probe, asked: Family | None) -> Sequence[str]:
    """Return the metrics of a probe that need no judge, the primary one first if it needs none."""
    if asked is not None and asked.parsed == "titles":
        return list(dict.fromkeys((probe.metric, *RECALL_AT)))
    primary = () if asked is None or asked.is_judged else (probe.metric,)
    events = (EVENTS,) if asked is not None and asked.prefix == "eventqa_" else ()
    return list(dict.fromkeys((*primary, SUBSTRING, EXACT, F1, *ROUGE_METRICS, *events)))
