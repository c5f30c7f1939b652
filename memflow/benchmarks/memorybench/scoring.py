"""Scores of MemoryBench: each metric in its own unit, and normalized scores over all data sets.

A metric has scores over all its probes, by data set, and, for LoCoMo, by category. Min-max and z scores combine the
metrics of all data sets: over all cases (micro, slice `all`), with equal weight per data set (slice `macro`), and by
data set. The slice `without corpora` leaves out the data sets with a corpus, as the column `Open*` of Table 18 does; a
domain whose data sets all have one, or none, does not have it. The variant `standard` is relative to the published
scores of the domain's partition; a data set that was not scored as in the paper has a reason instead (paper.py).
`pooled` is relative to all assistants that were run in the domain with the same chat model, under the primary metrics.
If probes are asked at several checkpoints, the slice `all` has the last checkpoint, and `checkpoint N` the N-th.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench import paper
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.scales import SCALES, Population, pooled, population_of
from memflow.benchmarks.memorybench.selection import INDEPENDENT_CASES
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.errors import BadInput
from memflow.metrics.intervals import Interval
from memflow.records import Probe, Score
from memflow.scoring.catalog import find_metric
from memflow.scoring.estimate import MetricContext, Sample, estimate
from memflow.scoring.groups import Group, interval, mean_of_means, spread
from memflow.scoring.judges import parse_variant

Item = TypeVar("Item", Group, Probe)
STANDARD = "standard"
POOLED = "pooled"
WITHOUT_CORPORA = "without corpora"
CATEGORIES = ("locomo", "memorybench_sample")
"""Tasks whose categories have scores: the categories of other data sets are topics, not kinds of questions."""


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of each metric and variant, then min-max and z scores."""
    context, own = MetricContext.from_results(domain, results), list(results.groups)
    found = []
    for metric, variant in dict.fromkeys((group.metric, group.variant) for group in own):
        members = [group for group in own if (group.metric, group.variant) == (metric, variant)]
        found += [
            _group_score(context, metric, variant, name, part) for name, part in slices_of(members).items()
        ]
    primary, parameters = [group for group in own if _primary(group)], parameters_of(domain)
    published = paper.published_for(parameters, _judge_fault(results))
    context = replace(context, scripted=results.scripted or results.scripted_judge)
    for metric in SCALES:
        if parameters.partition is not None:
            found += _normalized(context, metric, STANDARD, _as_published(own, published), published)
        found += _normalized(context, metric, POOLED, primary, results.population)
    return found


def _judge_fault(results: AssistantResults) -> str:
    """Return the reason why the judge cannot be the published judge; empty if there is no such reason."""
    if results.scripted or results.scripted_judge:
        return "a scripted chat was used here"
    judges = {judge for group in results.groups if (judge := parse_variant(group.variant).judge)}
    return f"the mean over {len(judges)} judges was scored here" if judges else ""


def population(groups: Sequence[Group]) -> list[Population]:
    """Return the scores of all assistants under the primary metrics, as the populations for pooled scores."""
    return pooled(group for group in groups if _primary(group))


def _primary(group: Group) -> bool:
    return group.variant == STANDARD and group.metric == TASKS[group.dataset].metric


def _as_published(own: Sequence[Group], published: Sequence[Population]) -> list[Group]:
    """Return the groups with the published metric and variant of each data set, or otherwise its primary metric."""
    measured = {(group.dataset, group.metric, group.variant) for group in own}
    wanted = {
        each.dataset: key
        for each in published
        if (key := (each.dataset, each.metric, each.variant)) in measured
    }
    return [
        group
        for group in own
        if (group.dataset, group.metric, group.variant) == wanted.get(group.dataset)
        or (group.dataset not in wanted and _primary(group))
    ]


def slices_of(items: Sequence[Item], *, categories: bool = True) -> dict[str, list[Item]]:
    """Return the items at the last checkpoint (`all`, `dataset D`, `category C`), and at each if there are several."""
    checkpoints = sorted({item.checkpoint for item in items})
    last = [item for item in items if item.checkpoint == checkpoints[-1]]
    slices = {"all": last}
    for dataset in dict.fromkeys(item.dataset for item in last):
        slices[f"dataset {dataset}"] = [item for item in last if item.dataset == dataset]
    if categories:
        kinds = [item for item in last if item.category is not None and item.dataset in CATEGORIES]
        for category in sorted({str(item.category) for item in kinds}):
            slices[f"category {category}"] = [item for item in kinds if item.category == category]
    if len(checkpoints) > 1:
        for at in checkpoints:
            slices[f"checkpoint {at}"] = [item for item in items if item.checkpoint == at]
    return slices


def _normalized(
    context: MetricContext,
    metric: str,
    variant: str,
    groups: Sequence[Group],
    populations: Sequence[Population],
) -> list[Score]:
    """Return the min-max or z scores of `groups`.

    If a data set has no population, its score and the score over all data sets have a reason instead of a value. The
    scores of other data sets have values.
    """
    if not groups:
        return []
    scaled, refusals = _scaled(metric, groups, populations)
    slices = slices_of(scaled, categories=False)
    free = [group for group in slices["all"] if not TASKS[group.dataset].has_corpus]
    if 0 < len(free) < len(slices["all"]):
        slices[WITHOUT_CORPORA] = free
    if refusals:
        return [
            _group_score(context, metric, variant, name, part, reason=_refusal(part, refusals))
            for name, part in slices.items()
            if name in ("all", WITHOUT_CORPORA) or name.startswith("dataset ")
        ]
    found = [_group_score(context, metric, variant, name, part) for name, part in slices.items()]
    datasets = [part for name, part in slices.items() if name.startswith("dataset ")]
    macro = _group_score(
        context, metric, variant, "macro", slices["all"], mean_of_means(datasets, INDEPENDENT_CASES)
    )
    return [found[0], replace(macro, deviation=None), *found[1:]]


def _scaled(
    metric: str, groups: Sequence[Group], populations: Sequence[Population]
) -> tuple[list[Group], dict[str, str]]:
    """Return the scaled groups, and the reasons, by data set, for groups without a population, which are not scaled."""
    scaled, refusals = [], {}
    for group in groups:
        try:
            by, shift = SCALES[metric](population_of(group, populations).spread)
            scaled.append(group.scaled(by, shift))
        except BadInput as refusal:
            refusals[group.dataset] = str(refusal)
            scaled.append(group)
    return scaled, refusals


def _refusal(groups: Sequence[Group], refusals: dict[str, str]) -> str | None:
    """Return why a slice has no score: the reasons of its data sets after their names."""
    datasets: dict[str, list[str]] = {}
    for dataset in dict.fromkeys(group.dataset for group in groups if group.dataset in refusals):
        datasets.setdefault(refusals[dataset], []).append(dataset)
    return ". ".join(f"{', '.join(names)}: {refusal}" for refusal, names in datasets.items()) or None


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
        lambda: over or interval(find_metric(metric), variant, groups, INDEPENDENT_CASES),
        slice_name=name,
        variant=variant,
        reason=reason,
        deviation=spread(groups).deviation,
    )
