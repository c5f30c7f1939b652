"""Figures beside the main ones: memory factual recall, and the accuracy of each cycle of an evolution.

What the assistant's own answers amount to is figures.py; how claims are drawn up and judged, factual.py. A cycle's
other figures are those of the assistant with that many cycles (evolution.py of memflow).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from memflow.benchmarks.amemgym.factual import METRIC
from memflow.benchmarks.amemgym.scoring import MIN_COVERAGE
from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.metrics.intervals import Interval, mean_interval
from memflow.records import Score


@dataclass(frozen=True)
class _Count:
    """Of one user: how much was asked, how much of it has a value, and what the values sum up to."""

    user_id: str
    asked: int
    valued: int
    total: float


def make_curve_scores(domain: Domain, measured: AssistantResults, overall: Iterable[Score]) -> list[Score]:
    """Factual recall for all periods and for each, and accuracy by cycle. `overall` are the main figures."""
    like = next(figure for figure in overall if (figure.metric, figure.slice) == ("accuracy", "all"))
    return [*_recall(domain, measured, like), *_cycles(domain, measured, like)]


def _recall(domain: Domain, measured: AssistantResults, like: Score) -> list[Score]:
    claims = measured.claims
    like = replace(like, metric=METRIC, scripted=measured.scripted or measured.scripted_judge)
    slices = {"all": claims}
    for period in sorted({claim.checkpoint for claim in claims}):
        slices[f"period {period}"] = [claim for claim in claims if claim.checkpoint == period]
    return [
        _mean(
            domain,
            replace(like, slice=name),
            "claims",
            [
                _Count(claim.episode_id, 1, int(claim.value is not None), claim.value or 0.0)
                for claim in within
            ],
        )
        for name, within in slices.items()
        if within
    ]


def _cycles(domain: Domain, measured: AssistantResults, like: Score) -> list[Score]:
    """The accuracy of each cycle; the last is the one that everything else is measured in."""
    learnt = [step for step in measured.policies if step.cycle > 0]
    cycles = sorted({step.cycle for step in learnt})
    if not cycles:
        return []
    found = [
        _mean(
            domain,
            replace(like, slice=f"cycle {cycle - 1}"),
            "probes",
            [
                _Count(step.episode_id, step.asked, step.answered, step.correct)
                for step in learnt
                if step.cycle == cycle
            ],
        )
        for cycle in cycles
    ]
    return [*found, replace(like, slice=f"cycle {cycles[-1]}")]


def _mean(domain: Domain, like: Score, what: str, counts: Iterable[_Count]) -> Score:
    by_user: dict[str, _Count] = {}
    for one in counts:
        so_far = by_user.get(one.user_id, _Count(one.user_id, 0, 0, 0.0))
        by_user[one.user_id] = _Count(
            one.user_id, so_far.asked + one.asked, so_far.valued + one.valued, so_far.total + one.total
        )
    users = [one for one in by_user.values() if one.valued]
    asked, valued = sum(one.asked for one in by_user.values()), sum(one.valued for one in users)
    interval = mean_interval([one.total for one in users], [one.valued for one in users], seed=domain.seed)
    coverage, reason = valued / asked if asked else 0.0, None
    if coverage < MIN_COVERAGE:
        reason = f"{valued} of {asked} {what} have a verdict; a figure needs {MIN_COVERAGE:.0%}"
        interval = Interval(None, None, None)
    return replace(
        like,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        n=valued,
        n_episodes=len(users),
        coverage=coverage,
        reason=reason,
    )
