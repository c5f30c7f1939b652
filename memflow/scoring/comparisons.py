"""Comparison of every two assistants of a domain, under every measure and in every slice, and the ranks it leaves open.

measures.py has what is compared, memflow/metrics/paired.py the statistics. Numbers of pairs are computed at once for
all pairs of assistants with values of the same items.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from memflow.metrics.paired import aggregate_difference, mean_differences
from memflow.metrics.power import episodes_needed, pseudo_values
from memflow.records import Comparison, Score
from memflow.scoring.catalog import find_metric
from memflow.scoring.comparison import PairedDifference, adjust, better, clip_interval, paired_difference
from memflow.scoring.measures import AggregateMeasure, Mask, MeanMeasure, Measure

WHOLE = "all"
"""The slice of all probes."""
Positions = tuple[int, int]
"""The positions of two assistants."""


@dataclass(frozen=True)
class DomainContext:
    """The domain, its assistants in order, and which of them are scripted. `seed` is the seed of the domain.

    `scripted_judges` states for each assistant whether a scripted chat decided its `judged_metrics`.
    """

    domain: str
    assistants: Sequence[str]
    scripted: Sequence[bool]
    seed: int = 0
    scripted_judges: Sequence[bool] = ()
    judged_metrics: frozenset[str] = frozenset()

    def row(
        self, measure: Measure, slice_name: str, pair: Positions, difference: PairedDifference
    ) -> Comparison:
        """Return the row of one comparison, before p values are adjusted."""
        a, b = pair
        low, high = find_metric(measure.metric).range
        difference = clip_interval(difference, high - low)
        return Comparison(
            domain=self.domain,
            metric=measure.metric,
            variant=measure.variant,
            slice=slice_name,
            a=self.assistants[a],
            b=self.assistants[b],
            scripted=self.scripted[a] or self.scripted[b] or self._judged_by_script(measure.metric, pair),
            **asdict(difference),  # the fields have the names of columns
        )

    def _judged_by_script(self, metric: str, pair: Positions) -> bool:
        is_judged = bool(self.scripted_judges) and metric.partition("[")[0] in self.judged_metrics
        return is_judged and any(self.scripted_judges[position] for position in pair)


def all_pairs(assistants: int) -> list[Positions]:
    """Return the positions of every two assistants, the first before the second."""
    return [(a, b) for a in range(assistants) for b in range(a + 1, assistants)]


def compare(
    context: DomainContext, measures: Iterable[Measure], pairs: Sequence[Positions], by_slice: bool = True
) -> list[Comparison]:
    """Return the comparisons of `pairs` under all measures, without adjusted p values.

    With `by_slice`, in all slices; otherwise only over all probes.
    """
    rows_of_measures: list[Comparison] = []
    for measure in measures:
        if isinstance(measure, AggregateMeasure):
            rows_of_measures += [_aggregate(context, measure, pair) for pair in pairs]
            continue
        members = measure.members
        compared_pairs = [pair for pair in pairs if members is None or members.issuperset(pair)]
        for name, mask in measure.slices.items():
            if not by_slice and name != WHOLE:
                continue
            if compared_pairs and np.isfinite(measure.values[:, mask]).any():
                rows = mean_pairs(measure, mask, compared_pairs, context.seed, with_needed=name == WHOLE)
                rows_of_measures += [context.row(measure, name, pair, rows[pair]) for pair in compared_pairs]
    return rows_of_measures


def mean_pairs(
    measure: MeanMeasure, mask: Mask, pairs: Sequence[Positions], seed: int, *, with_needed: bool = False
) -> dict[Positions, PairedDifference]:
    """Return the difference of each of `pairs` over the items of a slice that both have a value of.

    Assistants with values of the same items share a pattern. Pairs of the same two patterns share a mask of items, so
    that sums per episode are computed once. With `with_needed`, the number of episodes needed is simulated.
    """
    _, episodes = np.unique(
        [episode for episode, in_slice in zip(measure.episodes, mask, strict=True) if in_slice],
        return_inverse=True,
    )
    order = np.argsort(episodes, kind="stable")  # items of one episode are adjacent, as np.add.reduceat needs
    values = measure.values[:, mask][:, order]
    starts = np.flatnonzero(np.diff(episodes[order], prepend=-1))
    has_value = np.isfinite(values)
    patterns, pattern_of_assistant = np.unique(has_value, axis=0, return_inverse=True)
    pattern_of_assistant = pattern_of_assistant.ravel()
    pairs_by_patterns: dict[Positions, list[Positions]] = {}
    for a, b in pairs:
        pattern_a, pattern_b = sorted((int(pattern_of_assistant[a]), int(pattern_of_assistant[b])))
        pairs_by_patterns.setdefault((pattern_a, pattern_b), []).append((a, b))
    columns: list[tuple[Positions, float, float, int]] = []
    difference_sums, item_counts = [], []
    for (pattern_a, pattern_b), pairs_of_patterns in pairs_by_patterns.items():
        in_both = patterns[pattern_a] & patterns[pattern_b]
        n = int(in_both.sum())
        assistants = sorted({position for pair in pairs_of_patterns for position in pair})
        episode_sums = np.add.reduceat(np.where(in_both, values[assistants], 0.0), starts, axis=1)
        sums = dict(zip(assistants, episode_sums, strict=True))
        episode_counts = np.add.reduceat(in_both.astype(np.float64), starts)
        for a, b in pairs_of_patterns:
            difference_sums.append(sums[a] - sums[b])
            item_counts.append(episode_counts)
            columns.append(((a, b), float(sums[a].sum()), float(sums[b].sum()), n))
    totals, counts = np.stack(difference_sums, axis=1), np.stack(item_counts, axis=1)
    differences = mean_differences(totals, counts, seed=seed)
    needed = episodes_needed(np.where(counts > 0, totals, np.nan), seed=seed) if with_needed else None
    counts_by_assistant = has_value.sum(axis=1)
    return {
        (a, b): paired_difference(
            differences,
            (total_a / n, total_b / n) if n else (np.nan, np.nan),
            n=n,
            unpaired=(int(counts_by_assistant[a]) - n, int(counts_by_assistant[b]) - n),
            column=column,
            needed=needed[column] if needed else None,
        )
        for column, ((a, b), total_a, total_b, n) in enumerate(columns)
    }


def _aggregate(context: DomainContext, measure: AggregateMeasure, pair: Positions) -> Comparison:
    """Return the comparison of two assistants under a score of sums over episodes, with jackknife pseudo-values."""
    reason = next((measure.reasons[position] for position in pair if position in measure.reasons), None)
    if reason is not None:
        return context.row(measure, WHOLE, pair, PairedDifference(reason=reason))
    sums = measure.pair(*pair)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = [
            float(measure.score(sums_of_assistant.sum(axis=0, keepdims=True))[0])
            for sums_of_assistant in (sums.a, sums.b)
        ]
    differences = aggregate_difference(sums.a, sums.b, measure.score, seed=context.seed)
    leave_one_out_a, leave_one_out_b = (
        sums_of_assistant.sum(axis=0) - sums_of_assistant for sums_of_assistant in (sums.a, sums.b)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        jackknife = measure.score(leave_one_out_a) - measure.score(leave_one_out_b)
    pseudo = pseudo_values(jackknife[:, None], np.array([values[0] - values[1]]))
    needed = episodes_needed(pseudo, seed=context.seed)[0] if np.isfinite(pseudo).all() else None
    unpaired = (sums.unpaired_a, sums.unpaired_b)
    row = paired_difference(differences, values, n=sums.n, unpaired=unpaired, needed=needed)
    return context.row(measure, WHOLE, pair, row)


def _all_pairs(row: Comparison) -> tuple[str, ...]:
    return row.domain, row.metric, row.variant, row.slice


def adjust_families(
    rows: Sequence[Comparison], family: Callable[[Comparison], Hashable] = _all_pairs
) -> list[Comparison]:
    """Return the rows with adjusted p values, the number of tests of their family, and the better assistant.

    Rows with an equal `family` are one family of tests, by default all pairs of assistants under one metric, variant
    and slice of a domain.
    """
    families: dict[Hashable, list[int]] = {}
    for index, row in enumerate(rows):
        families.setdefault(family(row), []).append(index)
    adjusted_rows = list(rows)
    for members in families.values():
        ps = [rows[index].p for index in members]
        tests = sum(p is not None for p in ps)
        for index, p in zip(members, adjust(ps), strict=True):
            row = rows[index]
            winner = better(row.difference, p, find_metric(row.metric).direction)
            adjusted_rows[index] = replace(row, p_adjusted=p, family=tests, better=winner)
    return adjusted_rows


def with_ranks(scores: Iterable[Score], comparisons: Iterable[Comparison]) -> list[Score]:
    """Return the scores with the range of ranks that the comparisons leave open.

    `rank_low` is 1 + the number of assistants that are significantly better, `rank_high` the number of assistants that
    are not significantly worse. Both are None for a score that is not compared.
    """
    rank_bounds: dict[tuple[str, str, str, str, str], list[int]] = {}
    for row in comparisons:
        if row.p_adjusted is None:
            continue
        for side, assistant in (("a", row.a), ("b", row.b)):
            bounds = rank_bounds.setdefault(
                (row.domain, row.metric, row.variant, row.slice, assistant), [1, 1]
            )
            bounds[0] += row.better is not None and row.better != side
            bounds[1] += row.better != side
    ranked_scores = []
    for score in scores:
        key = (score.domain, score.metric, score.variant, score.slice, score.assistant)
        ranks = rank_bounds.get(key) if score.value is not None else None
        ranked_scores.append(replace(score, rank_low=ranks[0], rank_high=ranks[1]) if ranks else score)
    return ranked_scores
