"""All scores of one domain: the benchmark's own, evidence, efficiency, change over checkpoints, and outside metrics.

A `DomainRows` provides the rows, so this module does not depend on any store.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memflow.benchmarks.api import AssistantResults, Benchmark
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.records import Probe, Reply, Score, Verdict
from memflow.scoring.catalog import catalog, find_metric, unusable_metrics
from memflow.scoring.comparability import MeasuredSettings, compare_settings
from memflow.scoring.continual import CheckpointSums, continual_scores
from memflow.scoring.efficiency import OperationSums, efficiency_scores
from memflow.scoring.estimate import MetricContext, probe_score
from memflow.scoring.evidence import evidence_scores
from memflow.scoring.groups import Group
from memflow.scoring.metric import Metric


@dataclass(frozen=True)
class DomainRows:
    """The rows of one domain.

    `verdicts` contains every assistant that was evaluated, with its rows unless `groups` has them. `meta` contains the
    metadata of these rows (model, simulator, scripted, k, budget). `read` returns an assistant's rows of a table, or
    None.
    """

    domain: Domain
    probes: Sequence[Probe]
    verdicts: Mapping[str, Sequence[Verdict]]
    meta: Mapping[str, Mapping[str, str]]
    groups: Sequence[Group]
    operations: Sequence[OperationSums]
    checkpoints: Sequence[CheckpointSums]
    read: Callable[[str, str], list[Any] | None]
    scripted_judge: Callable[[str], bool]


def domain_scores(benchmark: Benchmark, rows: DomainRows) -> list[Score]:
    """Return the scores of every assistant in a domain, each with the settings that differ between assistants.

    Raises BadInput for a metric that is not in the catalog, or has another definition there.
    """
    slices = benchmark.slices(rows.domain, rows.probes)
    scores: list[Score] = []
    settings: dict[str, MeasuredSettings] = {}
    for assistant in rows.verdicts:
        results = _results(rows, assistant)
        replies = rows.read("answer.replies", assistant) or []
        own = benchmark.scores(rows.domain, results)
        if own:
            context = MetricContext.of(rows.domain, results)
            attributions = rows.read("score.attributions", assistant)
            if attributions is not None:
                own += evidence_scores(attributions, context, slices)
            operations = [each for each in rows.operations if each.assistant == assistant]
            own += efficiency_scores(operations, rows.probes, context, slices)
            checkpoints = [each for each in rows.checkpoints if each.assistant == assistant]
            own += continual_scores(checkpoints, context, none=_bound(assistant, "none") in rows.verdicts)
            own += reply_scores(catalog().values(), context, rows.probes, replies)
        scores += own
        k, budget = (int(rows.meta[assistant].get(each, 0)) or None for each in ("k", "budget"))
        settings[assistant] = MeasuredSettings.of(replies, k, budget)
    published = {score.metric for score in scores}
    for metric in published:
        find_metric(metric)
    for clash in unusable_metrics():
        if clash.package == benchmark.name and clash.name in published:
            raise BadInput(f"{benchmark.name}: {clash.reason}")
    return compare_settings(scores, settings)


def reply_scores(
    metrics: Iterable[Metric], context: MetricContext, probes: Sequence[Probe], replies: Sequence[Reply]
) -> list[Score]:
    """Return the scores of the metrics that are functions of a probe and its reply.

    If such a function raises, the score has a reason.
    """
    given = {reply.probe_id: reply for reply in replies}
    valid = [probe for probe in probes if probe.reason is None]
    scores = []
    for metric in metrics:
        if metric.value is None:
            continue
        values: dict[str, float] = {}
        reason = None
        try:
            for probe in valid:
                reply = given.get(probe.probe_id)
                value = None if reply is None else metric.value(probe, reply)
                if value is not None:
                    values[probe.probe_id] = float(value)
        except Exception as wrong:  # noqa: BLE001  (an outside metric may raise anything)
            reason = f"the metric failed: {type(wrong).__name__}: {wrong}"
        scores.append(probe_score(context, metric.name, valid, values, reason=reason))
    return scores


def _results(rows: DomainRows, assistant: str) -> AssistantResults:
    """Return an assistant's results together with those of the bounds of its model."""
    meta = rows.meta[assistant]
    return AssistantResults(
        domain=rows.domain.name,
        assistant=assistant,
        memory=assistant.partition("@")[0],
        model=meta["model"],
        probes=rows.probes,
        verdicts=rows.verdicts[assistant],
        oracle=rows.verdicts.get(_bound(assistant, "oracle"), []),
        none=rows.verdicts.get(_bound(assistant, "none"), []),
        simulator=meta["simulator"],
        scripted=meta["scripted"] == "yes",
        claims=rows.read("score.claims", assistant) or (),
        scripted_judge=rows.scripted_judge(assistant),
        policies=rows.read("memory.policies", assistant) or (),
        groups=[group for group in rows.groups if group.assistant == assistant],
        pool=[group for group in rows.groups if rows.meta[group.assistant]["model"] == meta["model"]],
    )


def _bound(assistant: str, memory: str) -> str:
    """Return the assistant with another memory and the same model: for `rag@big` and `none`, `none@big`."""
    _, at, model = assistant.partition("@")
    return f"{memory}{at}{model}"
