"""Verdicts to figures: overall accuracy between chance and upper bound, memory score, failure rates.

Every figure is given for all periods and for each; its interval is a bootstrap over users. A figure that
rests on too few of the probes asked has no value, and says why.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memflow.benchmarks.amemgym.verdicts import FAILURES, UNPARSED
from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.metrics.diagnosis import memory_score
from memflow.metrics.intervals import Array, Interval, bootstrap, mean_interval
from memflow.records import Probe, Score, Verdict

CHANCE = "chance_for_unparsed"
"""The variant in which an unparsed reply counts as much as a guess is right, 1 / options, instead of not at all.
The published code guesses; this is what its figures are on average."""

MIN_COVERAGE = 0.9
"""Share of the probes asked that need a verdict for a figure to be shown."""

NO_ORACLE = "the memory oracle has not been scored with this model; run it as well"

NO_SCALE = (
    "in some period (variant per_user_ratio: of some user) nothing was answered, or the upper bound does not "
    "lie above chance, so there is no scale"
)


def make_scores(domain: Domain, measured: AssistantResults) -> list[Score]:
    """The figures of one assistant, over all periods and for each period."""
    periods = sorted({probe.checkpoint for probe in measured.probes})
    slices: list[tuple[str, Sequence[int]]] = [("all", periods)]
    slices += [(f"period {period}", [period]) for period in periods]
    return [figure for name, within in slices for figure in _Slice(domain, measured, name, within).figures()]


@dataclass(frozen=True)
class _Slice:
    domain: Domain
    measured: AssistantResults
    name: str
    periods: Sequence[int]

    def figures(self) -> list[Score]:
        asked, states = self._asked("choice"), self._asked("state")
        chance = {probe.probe_id: 1 / len(probe.options) for probe in asked if probe.options}
        right, bound = (_values(rows, "accuracy") for rows in (self.measured.verdicts, self.measured.oracle))
        guessed, bound_guessed = (
            _guessed(rows, chance) for rows in (self.measured.verdicts, self.measured.oracle)
        )
        unbound = None if bound or bound_guessed else NO_ORACLE
        found = [
            self._share("accuracy", asked, right),
            self._share("accuracy", asked, guessed, variant=CHANCE),
            self._share("random", asked, chance),
            self._share("upper_bound", asked, bound, missing=unbound),
            self._share("upper_bound", asked, bound_guessed, variant=CHANCE, missing=unbound),
            self._score("standard", asked, right, bound, chance),
            self._score("per_user_ratio", asked, right, bound, chance),
            self._score(CHANCE, asked, guessed, bound_guessed, chance),
            self._share("state_match", states, _values(self.measured.verdicts, "state_match")),
            self._share(UNPARSED, asked, _values(self.measured.verdicts, UNPARSED)),
            self._share(f"state_{UNPARSED}", states, _values(self.measured.verdicts, UNPARSED)),
        ]
        for metric in FAILURES.values():
            found.append(self._share(metric, asked, _values(self.measured.verdicts, metric)))
        return found

    def _asked(self, kind: str) -> list[Probe]:
        within = set(self.periods)
        return [probe for probe in self.measured.probes if probe.kind == kind and probe.checkpoint in within]

    def _share(
        self,
        metric: str,
        asked: Sequence[Probe],
        values: Mapping[str, float],
        *,
        variant: str = "standard",
        missing: str | None = None,
    ) -> Score:
        """The mean of `values` over the probes asked."""
        scored = [probe for probe in asked if probe.probe_id in values]
        by_user: dict[str, list[float]] = {}
        for probe in scored:
            by_user.setdefault(probe.episode_id, []).append(values[probe.probe_id])
        totals = [sum(mine) for mine in by_user.values()]
        interval = mean_interval(totals, [len(mine) for mine in by_user.values()], seed=self.domain.seed)
        return self._figure(metric, asked, scored, interval, variant=variant, missing=missing)

    def _score(
        self,
        variant: str,
        asked: Sequence[Probe],
        right: Mapping[str, float],
        bound: Mapping[str, float],
        chance: Mapping[str, float],
    ) -> Score:
        """The memory score, over the probes that assistant and oracle both answered."""
        scored = [probe for probe in asked if probe.probe_id in right and probe.probe_id in bound]
        if not bound:
            unknown = Interval(None, None, None)
            return self._figure("memory_score", asked, scored, unknown, variant=variant, missing=NO_ORACLE)
        users = list(dict.fromkeys(probe.episode_id for probe in scored))
        sums = [np.zeros((len(users), len(self.periods))) for _ in range(4)]
        for probe in scored:
            place = users.index(probe.episode_id), self.periods.index(probe.checkpoint)
            key = probe.probe_id
            for table, value in zip(sums, (right[key], bound[key], chance[key], 1.0), strict=True):
                table[place] += value
        overall, upper, random, counts = sums
        by_user = variant == "per_user_ratio"
        interval = bootstrap(
            _per_user(overall, upper, random, counts) if by_user else _pooled(overall, upper, random, counts),
            len(users),
            seed=self.domain.seed,
        )
        return self._figure("memory_score", asked, scored, interval, variant=variant)

    def _figure(
        self,
        metric: str,
        asked: Sequence[Probe],
        scored: Sequence[Probe],
        interval: Interval,
        *,
        variant: str = "standard",
        missing: str | None = None,
    ) -> Score:
        coverage = len(scored) / len(asked) if asked else 0.0
        reason = missing
        if reason is None and coverage < MIN_COVERAGE:
            share = f"{len(scored)} of {len(asked)} probes have a verdict; a figure needs {MIN_COVERAGE:.0%}"
            reason = f"{share}. See their reasons in score.verdicts"
        if reason is None and interval.value is None:
            reason = NO_SCALE
        shown = interval if reason is None else Interval(None, None, None)
        return Score(
            domain=self.measured.domain,
            assistant=self.measured.assistant,
            memory=self.measured.memory,
            model=self.measured.model,
            metric=metric,
            variant=variant,
            slice=self.name,
            value=shown.value,
            low=shown.low,
            high=shown.high,
            n=len(scored),
            n_episodes=len({probe.episode_id for probe in scored}),
            coverage=coverage,
            simulator=self.measured.simulator,
            scripted=self.measured.scripted,
            reason=reason,
        )


def _values(verdicts: Sequence[Verdict], metric: str) -> dict[str, float]:
    """Probe to value, for the verdicts of `metric` that have one."""
    return {row.probe_id: row.value for row in verdicts if row.metric == metric and row.value is not None}


def _guessed(verdicts: Sequence[Verdict], chance: Mapping[str, float]) -> dict[str, float]:
    """Probe to accuracy, or to chance where a reply came and nothing could be read in it."""
    unparsed = _values(verdicts, UNPARSED)
    guesses = {key: value for key, value in chance.items() if unparsed.get(key) == 1}
    return _values(verdicts, "accuracy") | guesses


def _pooled(overall: Array, upper: Array, random: Array, counts: Array) -> Callable[[Array], Array]:
    """The paper's rule: users pooled in each period, then the mean over periods. Sums of shape (users,
    periods)."""

    def statistic(weights: Array) -> Array:
        asked = weights @ counts
        return memory_score(weights @ overall / asked, weights @ upper / asked, weights @ random / asked)

    return statistic


def _per_user(overall: Array, upper: Array, random: Array, counts: Array) -> Callable[[Array], Array]:
    """The published code's rule: the ratio of each user in each period, then the mean over both."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = memory_score(overall / counts, upper / counts, random / counts)

    def statistic(weights: Array) -> Array:
        scores: Array = (weights @ ratios) / weights.sum(axis=-1)
        return scores

    return statistic
