"""Scores of AMemGym: accuracy, memory score, failure rates, factual recall, and scores per cycle of evolution.

Every score is computed over all periods and for each period, with an interval over users. factual.py judges the claims.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memflow.benchmarks.amemgym.metrics import FACTUAL_RECALL, PREVIOUS_STATE
from memflow.benchmarks.amemgym.verdicts import FAILURES
from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.verdicts import UNPARSED
from memflow.metrics.diagnosis import memory_score
from memflow.metrics.intervals import Array, statistic_interval
from memflow.records import Claim, Probe, Score, Verdict
from memflow.scoring.estimate import (
    MetricContext,
    Sample,
    chance_values,
    change_slices,
    estimate,
    mean_score,
    previous_state_values,
    probe_score,
    sums_by_episode,
    verdict_values,
)

CHANCE = "chance_for_unparsed"
"""The variant in which an unparsed reply counts 1 / options, its mean value under the published code's random guess."""
NO_ORACLE = "the memory oracle has no scores with this model, or is faulty; run it as well"
NO_SCALE = (
    "in some period (variant per_user_ratio: for some user) no probe was answered, or the upper bound is not above "
    "chance, so there is no scale"
)


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of one assistant, overall and for each period, with factual recall and scores per cycle."""
    periods = sorted({probe.checkpoint for probe in results.probes})
    scores = list(_PeriodSlice(domain, results, "all", periods).scores())
    for period in periods:
        scores += _PeriodSlice(domain, results, f"period {period}", [period]).scores()
    overall = next(score for score in scores if (score.metric, score.slice) == ("accuracy", "all"))
    scores += change_scores(domain, results)
    return [*scores, *factual_recall(domain, results), *cycle_scores(domain, results, overall)]


def change_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return accuracy, chance level and failure rates for questions whose state has changed, and for all others."""
    context = MetricContext.from_results(domain, results)
    choices = [probe for probe in results.probes if probe.kind == "choice"]
    values_by_metric = {
        metric: _values(results.verdicts, metric) for metric in ("accuracy", *FAILURES.values())
    }
    values_by_metric["random"] = chance_values(choices)
    scores = []
    for slice_name, probes in change_slices(choices).items():
        for metric, values in values_by_metric.items():
            scores.append(probe_score(context, metric, probes, values, slice_name=slice_name))
    return scores


@dataclass(frozen=True)
class _PeriodSlice:
    domain: Domain
    results: AssistantResults
    name: str
    periods: Sequence[int]

    def scores(self) -> Iterator[Score]:
        choices, states = self._probes("choice"), self._probes("state")
        chance = chance_values(choices)
        verdicts, oracle_verdicts = self.results.verdicts, self.results.oracle
        correct, oracle = _values(verdicts, "accuracy"), _values(oracle_verdicts, "accuracy")
        with_chance = _values_with_chance(verdicts, chance)
        oracle_with_chance = _values_with_chance(oracle_verdicts, chance)
        oracle_reason = None if oracle or oracle_with_chance else NO_ORACLE
        yield self._mean("accuracy", choices, correct)
        yield self._mean("accuracy", choices, with_chance, variant=CHANCE)
        yield self._mean("random", choices, chance)
        yield self._mean(PREVIOUS_STATE, choices, previous_state_values(choices))
        yield self._mean("upper_bound", choices, oracle, reason=oracle_reason)
        yield self._mean("upper_bound", choices, oracle_with_chance, variant=CHANCE, reason=oracle_reason)
        yield self._memory_score("standard", choices, correct, oracle, chance)
        yield self._memory_score("per_user_ratio", choices, correct, oracle, chance)
        yield self._memory_score(CHANCE, choices, with_chance, oracle_with_chance, chance)
        yield self._mean("state_match", states, verdict_values(self.results, "state_match"))
        unparsed = verdict_values(self.results, UNPARSED)
        yield self._mean(UNPARSED, choices, unparsed)
        yield self._mean(f"state_{UNPARSED}", states, unparsed)
        for metric in FAILURES.values():
            yield self._mean(metric, choices, verdict_values(self.results, metric))

    def _probes(self, kind: str) -> list[Probe]:
        periods = set(self.periods)
        return [probe for probe in self.results.probes if probe.kind == kind and probe.checkpoint in periods]

    def _mean(
        self,
        metric: str,
        probes: Sequence[Probe],
        values: Mapping[str, float],
        *,
        variant: str = "standard",
        reason: str | None = None,
    ) -> Score:
        context = MetricContext.from_results(self.domain, self.results)
        return probe_score(
            context, metric, probes, values, slice_name=self.name, variant=variant, reason=reason
        )

    def _memory_score(
        self,
        variant: str,
        probes: Sequence[Probe],
        correct: Mapping[str, float],
        oracle: Mapping[str, float],
        chance: Mapping[str, float],
    ) -> Score:
        """Return the memory score over the probes that both the assistant and the oracle answered."""
        answered = [probe for probe in probes if probe.probe_id in correct and probe.probe_id in oracle]
        users = list(dict.fromkeys(probe.episode_id for probe in answered))
        sums = np.zeros((4, len(users), len(self.periods)))
        for probe in answered:
            user, period = users.index(probe.episode_id), self.periods.index(probe.checkpoint)
            probe_id = probe.probe_id
            sums[:, user, period] += (correct[probe_id], oracle[probe_id], chance[probe_id], 1.0)
        rule = _per_user if variant == "per_user_ratio" else _pooled
        return estimate(
            MetricContext.from_results(self.domain, self.results),
            "memory_score",
            Sample(len(probes), len(answered), len(users)),
            lambda: statistic_interval(rule(*sums), len(users), seed=self.domain.seed),
            slice_name=self.name,
            variant=variant,
            reason=None if oracle else NO_ORACLE,
            undefined=NO_SCALE,
        )


def factual_recall(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the share of claims that the memory contains, overall and for each period; empty without claims.

    With several judges, each judge has a variant with the share by its own verdicts.
    """
    claims_by_variant: dict[str, list[Claim]] = {}
    for claim in results.claims:
        claims_by_variant.setdefault(claim.variant, []).append(claim)
    scores: list[Score] = []
    for variant, claims in claims_by_variant.items():
        scores += _factual_recall(domain, results, variant, claims)
    return scores


def _factual_recall(
    domain: Domain, results: AssistantResults, variant: str, claims: Sequence[Claim]
) -> list[Score]:
    context = replace(
        MetricContext.from_results(domain, results), scripted=results.scripted or results.scripted_judge
    )
    slices = {"all": claims}
    for period in sorted({claim.checkpoint for claim in claims}):
        slices[f"period {period}"] = [claim for claim in claims if claim.checkpoint == period]
    return [
        mean_score(
            context,
            FACTUAL_RECALL,
            sums_by_episode((claim.episode_id, claim.value) for claim in members if claim.value is not None),
            len(members),
            slice_name=name,
            variant=variant,
            items="claims",
        )
        for name, members in slices.items()
        if members
    ]


def cycle_scores(domain: Domain, results: AssistantResults, overall: Score) -> list[Score]:
    """Return the accuracy of each cycle of an evolving memory.

    The last cycle has the score `overall`, because all other scores are computed from that cycle.
    """
    steps = [step for step in results.policies if step.cycle > 0]
    cycles = sorted({step.cycle for step in steps})
    if not cycles:
        return []
    scores = []
    for cycle in cycles:
        steps_of_cycle = [step for step in steps if step.cycle == cycle]
        sums_by_user: dict[str, tuple[float, int]] = {}
        for step in steps_of_cycle:
            correct, answered = sums_by_user.get(step.episode_id, (0.0, 0))
            sums_by_user[step.episode_id] = correct + step.correct, answered + step.answered
        scores.append(
            mean_score(
                MetricContext.from_results(domain, results),
                "accuracy",
                [(correct, answered) for correct, answered in sums_by_user.values() if answered],
                sum(step.asked for step in steps_of_cycle),
                # Step 1 has the answers of the first play, which is cycle 0.
                slice_name=f"cycle {cycle - 1}",
            )
        )
    return [*scores, replace(overall, slice=f"cycle {cycles[-1]}")]


def _values(verdicts: Sequence[Verdict], metric: str) -> dict[str, float]:
    return {row.probe_id: row.value for row in verdicts if row.metric == metric and row.value is not None}


def _values_with_chance(verdicts: Sequence[Verdict], chance: Mapping[str, float]) -> dict[str, float]:
    """Return the accuracy of each probe. A probe with an unparsed reply gets the accuracy of chance."""
    unparsed = _values(verdicts, UNPARSED)
    chance_values_ = {key: value for key, value in chance.items() if unparsed.get(key) == 1}
    return _values(verdicts, "accuracy") | chance_values_


def _pooled(overall: Array, upper: Array, random: Array, counts: Array) -> Callable[[Array], Array]:
    """Return a function that computes the memory score of the paper: pool all users per period, then average periods.

    The arguments are sums of shape (users, periods). The function takes weights of the users.
    """

    def statistic(weights: Array) -> Array:
        total = weights @ counts
        return memory_score(weights @ overall / total, weights @ upper / total, weights @ random / total)

    return statistic


def _per_user(overall: Array, upper: Array, random: Array, counts: Array) -> Callable[[Array], Array]:
    """Return a function that computes the memory score of the published code: the mean ratio over users and periods."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = memory_score(overall / counts, upper / counts, random / counts)

    def statistic(weights: Array) -> Array:
        scores: Array = (weights @ ratios) / weights.sum(axis=-1)
        return scores

    return statistic
