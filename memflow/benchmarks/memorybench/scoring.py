"""Scores of MemoryBench: each metric in its own unit, and normalized scores over all data sets.

A metric has scores over all its probes, by data set, and, for LoCoMo, by category. Min-max and z scores combine the
primary metrics of all data sets: over all cases (micro, slice `all`), with equal weight per data set (slice `macro`),
and by data set. `standard` compares with the published scores of the domain's partition. `pooled` compares with all
assistants that were run in the domain with the same chat model. `substituted` replaces a metric whose backend is
missing by a metric without backend. If probes are asked at several checkpoints, `all` has the last one and `checkpoint
N` each one.
"""

from collections.abc import Sequence
from dataclasses import replace

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench import paper
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.paper import Against
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.metrics.intervals import Interval
from memflow.metrics.meteor import METEOR_NOWORDNET
from memflow.records import Score
from memflow.scoring.estimate import MetricContext, Sample, estimate
from memflow.scoring.groups import Group, interval, mean_of_means, spread
from memflow.scoring.judges import parse_variant

STANDARD = "standard"
POOLED = "pooled"
SUBSTITUTED = "substituted"
SCALES = {"min_max": paper.min_max, "z_score": paper.z_score}
CATEGORIES = ("locomo", "memorybench_sample")
"""Tasks whose categories have scores: the categories of other data sets are topics, not kinds of questions."""
INDEPENDENT_CASES = frozenset({DIALOGUES})
"""Episodes whose cases are independent: they share a memory, but no corpus."""


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of each metric and variant, then min-max and z scores."""
    context, own = MetricContext.of(domain, results), list(results.groups)
    found = []
    for metric, variant in dict.fromkeys((group.metric, group.variant) for group in own):
        members = [group for group in own if (group.metric, group.variant) == (metric, variant)]
        found += [
            _group_score(context, metric, variant, name, part)
            for name, part in _slices(members, categories=True).items()
        ]
    primary = [group for group in own if _primary(group)]
    substituted = [_substitute(group, own) for group in primary]
    partition = parameters_of(domain).partition
    published = paper.published(partition)
    for metric in SCALES:
        if partition is not None:
            found += _normalized(context, metric, STANDARD, primary, published)
            if substituted != primary:
                found += _normalized(context, metric, SUBSTITUTED, substituted, published)
        found += _normalized(context, metric, POOLED, primary, results.population)
    return found


def population(groups: Sequence[Group]) -> Against:
    """Return the population of the scores under the primary metrics of all assistants that were run, by task."""
    return paper.pooled(group for group in groups if _primary(group))


def _primary(group: Group) -> bool:
    return group.variant == STANDARD and group.metric == TASKS[group.dataset].metric


def _substitute(group: Group, own: Sequence[Group]) -> Group:
    """Return the group of cases; if no case has a value, return the group for the metric without backend."""
    if group.scored:
        return group
    return next((each for each in own if _without(each) and _cases(each) == _cases(group)), group)


def _without(group: Group) -> bool:
    variant, judge = parse_variant(group.variant)
    if judge is not None:
        return False
    primary = group.metric == TASKS[group.dataset].metric and variant.startswith("without_")
    return primary or group.metric == METEOR_NOWORDNET


def _cases(group: Group) -> tuple[str | None, ...]:
    return group.assistant, group.dataset, group.category, str(group.checkpoint), group.episode_id


def _slices(groups: Sequence[Group], *, categories: bool = False) -> dict[str, list[Group]]:
    checkpoints = sorted({group.checkpoint for group in groups})
    last = [group for group in groups if group.checkpoint == checkpoints[-1]]
    slices = {"all": last}
    for dataset in dict.fromkeys(group.dataset for group in last):
        slices[f"dataset {dataset}"] = [group for group in last if group.dataset == dataset]
    if categories:
        kinds = [group for group in last if group.category is not None and group.dataset in CATEGORIES]
        for category in sorted({group.category for group in kinds if group.category is not None}):
            slices[f"category {category}"] = [group for group in kinds if group.category == category]
    if len(checkpoints) > 1:
        for at in checkpoints:
            slices[f"checkpoint {at}"] = [group for group in groups if group.checkpoint == at]
    return slices


def _normalized(
    context: MetricContext, metric: str, variant: str, groups: Sequence[Group], against: Against
) -> list[Score]:
    """Return the min-max or z scores of `groups`.

    If a data set has no scores to compare with, return a single score without a value and with the reason.
    """
    if not groups:
        return []
    known = {name for name, one in against.items() if one.mean is not None}
    missing = sorted({group.dataset for group in groups} - known)
    if missing:
        what = "scores" if variant == POOLED else "published scores"
        reason = f"there are no {what} of {', '.join(missing)} to compare with"
        return [_group_score(context, metric, variant, "all", groups, reason=reason)]
    scales = {name: SCALES[metric](one) for name, one in against.items()}
    scaled = [group.scaled(*scales[group.dataset]) for group in groups]
    slices = _slices(scaled)
    found = [_group_score(context, metric, variant, name, part) for name, part in slices.items()]
    datasets = [part for name, part in slices.items() if name.startswith("dataset ")]
    macro = _group_score(
        context, metric, variant, "macro", slices["all"], mean_of_means(datasets, INDEPENDENT_CASES)
    )
    return [found[0], replace(macro, deviation=None), *found[1:]]


def _group_score(
    context: MetricContext,
    metric: str,
    variant: str,
    name: str,
    groups: Sequence[Group],
    over: Interval | None = None,
    *,
    reason: str | None = None,
) -> Score:
    """Return the score of `groups`: their mean with its interval, or the interval `over` instead."""
    return estimate(
        context,
        metric,
        Sample(
            sum(group.asked for group in groups),
            sum(group.scored for group in groups),
            len({group.episode_id for group in groups if group.scored}),
        ),
        lambda: over or interval(groups, INDEPENDENT_CASES),
        slice_name=name,
        variant=variant,
        reason=reason,
        deviation=spread(groups).deviation,
    )
