"""Groups of verdicts -> the leaderboard's figures: each metric as it is, and all data sets on one scale.

A metric has figures over all its probes, by data set, and by category for LoCoMo. Min-max and z scores put the primary
metrics of all data sets together: over all cases (micro, slice `all`), with each data set as heavy as another (slice
`macro`), and by data set. `standard` measures against the published figures of the domain's partition, `pooled` against
all that was run in the domain with the same chat model. Where a metric has no value for want of an instrument, the one
that does without it (`without_bertscore`, `meteor_nowordnet`) stands in, in a variant of its own, `substituted`. Where
probes are asked at several checkpoints, `all` and its parts are of the last one, and `checkpoint N` of each.

What has no score counts in the coverage, and nowhere as 0. What a score is, scores/ says.
"""

from collections.abc import Iterable, Sequence
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
from memflow.scoring.groups import Group, interval, mean_of_means, spread

COVERAGE = 0.9
"""Share of the probes asked that must have a score for a figure to be shown."""
STANDARD = "standard"
POOLED = "pooled"
SUBSTITUTED = "substituted"
SCALES = {"min_max": paper.min_max, "z_score": paper.z_score}
CATEGORIES = ("locomo", "memorybench_sample")
"""Tasks whose categories have figures: those of other data sets say what a text is about, not how hard it is."""
# What is asked about no corpus is asked of one memory, but in cases that have nothing to do with one another.
TOGETHER = frozenset({DIALOGUES})


def figures(domain: Domain, measured: AssistantResults) -> list[Score]:
    """Each metric and variant, then min-max and z scores, against the published figures where it has a partition."""
    own = list(measured.groups)
    found = []
    for metric, variant in dict.fromkeys((group.metric, group.variant) for group in own):
        held = [group for group in own if (group.metric, group.variant) == (metric, variant)]
        found += [
            _figure(measured, metric, variant, name, part)
            for name, part in _slices(held, categories=True).items()
        ]
    primary = [group for group in own if _primary(group)]
    substituted = [_substitute(group, own) for group in primary]
    partition = parameters_of(domain).partition
    published = paper.published(partition)
    pooled = paper.pooled(group for group in measured.pool if _primary(group))
    for metric in SCALES:
        if partition is not None:
            found += _normalised(measured, metric, STANDARD, primary, published)
            if substituted != primary:
                found += _normalised(measured, metric, SUBSTITUTED, substituted, published)
        found += _normalised(measured, metric, POOLED, primary, pooled)
    return found


def _primary(group: Group) -> bool:
    return group.variant == STANDARD and group.metric == TASKS[group.dataset].metric


def _substitute(group: Group, own: Sequence[Group]) -> Group:
    """The group itself, or, where nothing in it has a value, that of the same cases without the instrument."""
    if group.scored:
        return group
    return next((each for each in own if _without(each) and _cases(each) == _cases(group)), group)


def _without(group: Group) -> bool:
    primary = group.metric == TASKS[group.dataset].metric and group.variant.startswith("without_")
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


def _normalised(
    measured: AssistantResults, metric: str, variant: str, groups: Sequence[Group], against: Against
) -> list[Score]:
    """`groups` on one scale. Without a population for one of their data sets there is no figure, but a reason."""
    if not groups:
        return []
    known = {name for name, one in against.items() if one.mean is not None}
    lacking = sorted({group.dataset for group in groups} - known)
    if lacking:
        what = "scores" if variant == POOLED else "published figures"
        reason = f"there are no {what} of {', '.join(lacking)} to measure against"
        empty = _figure(measured, metric, variant, "all", groups)
        return [replace(empty, value=None, low=None, high=None, deviation=None, reason=reason)]
    scales = {name: SCALES[metric](one) for name, one in against.items()}
    scaled = [group.scaled(*scales[group.dataset]) for group in groups]
    slices = _slices(scaled)
    found = [_figure(measured, metric, variant, name, part) for name, part in slices.items()]
    parts = [part for name, part in slices.items() if name.startswith("dataset ")]
    macro = _figure(measured, metric, variant, "macro", slices["all"], mean_of_means(parts, TOGETHER))
    return [found[0], replace(macro, deviation=None), *found[1:]]


def _figure(
    measured: AssistantResults,
    metric: str,
    variant: str,
    name: str,
    groups: Iterable[Group],
    over: Interval | None = None,
) -> Score:
    """The mean over `groups`, or the interval given."""
    held = list(groups)
    asked, scored = sum(group.asked for group in held), sum(group.scored for group in held)
    coverage = scored / asked
    shown = coverage >= COVERAGE
    value, low, high = over or interval(held, TOGETHER)
    return Score(
        domain=measured.domain,
        assistant=measured.assistant,
        memory=measured.memory,
        model=measured.model,
        metric=metric,
        variant=variant,
        slice=name,
        value=value if shown else None,
        low=low if shown else None,
        high=high if shown else None,
        deviation=spread(held).deviation if shown else None,
        n=scored,
        n_episodes=len({group.episode_id for group in held if group.scored}),
        coverage=coverage,
        simulator=measured.simulator,
        scripted=measured.scripted,
        reason=None if shown else f"only {scored} of {asked} probes have a score; see their verdicts",
    )
