"""All scores of one domain: the benchmark's own, evidence, efficiency, change over checkpoints, plug-in metrics.

A `DomainRows` provides the rows, so this module does not depend on any store. The scores of each assistant are computed
separately, so that a caller can cache them until its rows change; `combine_scores` compares the assistants.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memflow.benchmarks.api import AssistantResults, Benchmark
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.records import Calibration, Probe, Reply, Score, Verdict
from memflow.repeats import memory_name, with_memory
from memflow.scoring.calibrations import with_calibrations
from memflow.scoring.catalog import catalog, find_metric, unusable_metrics
from memflow.scoring.comparability import MeasuredSettings, compare_settings
from memflow.scoring.continual import CheckpointSums, continual_scores
from memflow.scoring.efficiency import OperationSums, cut_score, efficiency_scores
from memflow.scoring.estimate import MetricContext, probe_score
from memflow.scoring.evidence import evidence_scores
from memflow.scoring.groups import Group
from memflow.scoring.judges import SELF_JUDGES, with_judge_columns
from memflow.scoring.metric import Metric
from memflow.scoring.published_health import AssistantHealth, health_columns, is_faulty
from memflow.scoring.scripted import with_scripted_column


@dataclass(frozen=True)
class DomainRows:
    """The rows of one domain that its scores are computed from.

    `meta` contains every assistant that was evaluated, with the metadata of its verdicts (model, simulator, scripted,
    embedder, replaced prompts, k, budget). `verdicts` returns an assistant's rows, which are empty if `groups` has
    them; `read` returns its rows of another table, or None. `operations` and `checkpoints` are needed for the
    assistants that are scored. `health` has the health of the assistants that were examined.
    """

    domain: Domain
    probes: Sequence[Probe]
    meta: Mapping[str, Mapping[str, str]]
    verdicts: Callable[[str], Sequence[Verdict]]
    groups: Mapping[str, Sequence[Group]]
    operations: Mapping[str, Sequence[OperationSums]]
    checkpoints: Mapping[str, Sequence[CheckpointSums]]
    read: Callable[[str, str], list[Any] | None]
    scripted_judge: Callable[[str], bool]
    independent: frozenset[str] = frozenset()
    """`Benchmark.independent_episodes`."""
    health: Mapping[str, AssistantHealth] = field(default_factory=dict)
    calibrations: Callable[[str], Sequence[Calibration]] = lambda assistant: ()
    """Returns the calibrations of the judges behind an assistant's verdicts; empty if they are not known."""

    def has_valid(self, assistant: str) -> bool:
        """Return whether an assistant was evaluated and its memory is not faulty."""
        return assistant in self.meta and not is_faulty(assistant, self.health)


@dataclass(frozen=True)
class AssistantScores:
    """One assistant's scores under the benchmark's own and the shared metrics, and the assistant's settings."""

    own: Sequence[Score]
    shared: Sequence[Score]
    settings: MeasuredSettings

    @property
    def all(self) -> list[Score]:
        """All scores of the assistant; empty if the benchmark computed none."""
        return [*self.own, *self.shared] if self.own else []


def populations_of(
    benchmark: Benchmark,
    meta: Mapping[str, Mapping[str, str]],
    groups: Mapping[str, Sequence[Group]],
    health: Mapping[str, AssistantHealth],
) -> dict[str, Any]:
    """Return the data of all assistants that scores are compared with (`Benchmark.population`), by chat model.

    Faulty assistants are left out.
    """
    models: dict[str, list[Group]] = {}
    for assistant, of_assistant in meta.items():
        members = () if is_faulty(assistant, health) else groups.get(assistant, ())
        models.setdefault(of_assistant["model"], []).extend(members)
    return {model: benchmark.population(groups) for model, groups in models.items()}


def own_scores(benchmark: Benchmark, rows: DomainRows, assistant: str, population: Any) -> list[Score]:
    """Return one assistant's scores under the benchmark's own metrics, with the columns on judges."""
    scores = benchmark.scores(rows.domain, _results(rows, assistant, population))
    self_judges = rows.meta[assistant].get(SELF_JUDGES, "").splitlines()
    scores = with_judge_columns(scores, benchmark.judged_metrics, self_judges)
    scores = with_scripted_column(scores, rows.meta[assistant], benchmark.judged_metrics)
    return with_calibrations(scores, benchmark.judged_metrics, rows.calibrations(assistant))


def shared_scores(
    rows: DomainRows, assistant: str, slices: Mapping[str, frozenset[str]]
) -> tuple[list[Score], MeasuredSettings]:
    """Return one assistant's scores under the metrics that all benchmarks share, and the assistant's settings.

    `slices` are the benchmark's slices (`Benchmark.slices`).
    """
    meta = rows.meta[assistant]
    context = MetricContext(
        domain=rows.domain.name,
        assistant=assistant,
        memory=memory_name(assistant),
        model=meta["model"],
        simulator=meta["simulator"],
        scripted=meta["scripted"] == "yes",
        seed=rows.domain.seed,
        independent=rows.independent,
    )
    replies = rows.read("answer.replies", assistant) or []
    attributions = rows.read("score.attributions", assistant)
    scores = [] if attributions is None else evidence_scores(attributions, context, slices)
    scores += efficiency_scores(rows.operations.get(assistant, ()), rows.probes, context, slices)
    scores += cut_score(rows.operations.get(assistant, ()), context)
    scores += continual_scores(
        rows.checkpoints.get(assistant, ()), context, none=rows.has_valid(with_memory(assistant, "none"))
    )
    scores += reply_scores(catalog().values(), context, rows.probes, replies)
    return with_scripted_column(scores, meta), MeasuredSettings.from_replies(replies, meta)


def combine_scores(
    benchmark: Benchmark,
    scores_by_assistant: Mapping[str, AssistantScores],
    health_by_assistant: Mapping[str, AssistantHealth],
) -> list[Score]:
    """Return the scores of all assistants in a domain, each with the settings that differ between assistants.

    A faulty assistant has scores without values, with the fault as their reason. Raises BadInput for a metric that is
    not in the catalog, or has another definition in the catalog.
    """
    scores = [score for assistant_scores in scores_by_assistant.values() for score in assistant_scores.all]
    metric_names = {score.metric for score in scores}
    for metric in metric_names:
        find_metric(metric)
    for clash in unusable_metrics():
        if clash.declared_by == benchmark.name and clash.name in metric_names:
            raise BadInput(f"the metric {clash.name} of {benchmark.name} cannot be used: {clash.reason}")
    settings = {name: assistant_scores.settings for name, assistant_scores in scores_by_assistant.items()}
    columns = {name: health_columns(health) for name, health in health_by_assistant.items()}
    return compare_settings(scores, settings, columns)


def reply_scores(
    metrics: Iterable[Metric], context: MetricContext, probes: Sequence[Probe], replies: Sequence[Reply]
) -> list[Score]:
    """Return the scores of the metrics that are functions of a probe and its reply.

    If such a function raises, the score has a reason instead of a value.
    """
    replies_by_probe = {reply.probe_id: reply for reply in replies}
    valid_probes = [probe for probe in probes if probe.reason is None]
    scores = []
    for metric in metrics:
        if metric.value is None:
            continue
        values: dict[str, float] = {}
        reason = None
        try:
            for probe in valid_probes:
                reply = replies_by_probe.get(probe.probe_id)
                value = None if reply is None else metric.value(probe, reply)
                if value is not None:
                    values[probe.probe_id] = float(value)
        except Exception as error:  # noqa: BLE001  (a metric of a plug-in may raise anything)
            reason = f"the metric failed: {type(error).__name__}: {error}"
        scores.append(probe_score(context, metric.name, valid_probes, values, declared=metric, reason=reason))
    return scores


def _results(rows: DomainRows, assistant: str, population: Any) -> AssistantResults:
    """Return an assistant's results and the results of the baselines (`none`, `oracle`) of its model.

    A faulty baseline has no results.
    """
    meta = rows.meta[assistant]

    def baseline_verdicts(memory: str) -> Sequence[Verdict]:
        baseline = with_memory(assistant, memory)
        return rows.verdicts(baseline) if rows.has_valid(baseline) else []

    return AssistantResults(
        domain=rows.domain.name,
        assistant=assistant,
        memory=memory_name(assistant),
        model=meta["model"],
        probes=rows.probes,
        verdicts=rows.verdicts(assistant),
        oracle=baseline_verdicts("oracle"),
        none=baseline_verdicts("none"),
        simulator=meta["simulator"],
        scripted=meta["scripted"] == "yes",
        claims=rows.read("score.claims", assistant) or (),
        scripted_judge=rows.scripted_judge(assistant),
        policies=rows.read("memory.policies", assistant) or (),
        groups=rows.groups.get(assistant, ()),
        population=population,
    )
