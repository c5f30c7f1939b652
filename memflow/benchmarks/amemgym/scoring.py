"""Scores of AMemGym: accuracy, memory score, failure rates, factual recall, and scores per cycle of evolution.

Every score is computed over all periods and for each period, with an interval over users. factual.py judges the claims.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from memflow.benchmarks.amemgym.comparison import NO_ORACLE, PARTS, pooled_memory_score, probe_slices
from memflow.benchmarks.amemgym.metrics import FACTUAL_RECALL, PREVIOUS_STATE
from memflow.benchmarks.amemgym.verdicts import FAILURES
from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.verdicts import UNPARSED
from memflow.metrics.intervals import Array, statistic_interval
from memflow.records import Policy, Probe, Score, Verdict
from memflow.scoring.estimate import (
    MetricContext,
    Sample,
    chance_values,
    estimate,
    mean_score,
    previous_state_values,
    probe_score,
    sums_by_episode,
)

CHANCE = "chance_for_unparsed"
"""The variant in which an unparsed reply counts 1 / options, its mean value under the published code's random guess."""
NO_SCALE = (
    "in some period (variant per_user_ratio: for some user) no probe was answered, or the upper bound is not above "
    "chance, so there is no scale"
)


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of one assistant, overall and for each period, with factual recall and scores per cycle."""
    context = MetricContext.from_results(domain, results)
    rows = _metric_values(results)
    scores: list[Score] = []
    for name, probes in probe_slices(results.probes).items():
        of_changes = name.startswith("gold ")
        scores += [row.score(context, probes, name) for row in rows if row.is_split or not of_changes]
        if not of_changes:
            scores += _memory_scores(context, results, probes, name)
    overall = next(score for score in scores if (score.metric, score.slice) == ("accuracy", "all"))
    return [*scores, *factual_recall(context, results), *cycle_scores(context, results, overall)]


@dataclass(frozen=True)
class _MetricValues:
    """The values of a metric by probe id, for the probes of one kind."""

    metric: str
    values: Mapping[str, float]
    variant: str = "standard"
    kind: str = "choice"
    reason: str | None = None

    @property
    def is_split(self) -> bool:
        """Whether questions whose state has changed have a score apart from all others."""
        return self.variant == "standard" and self.metric in ("accuracy", "random", *FAILURES.values())

    def score(self, context: MetricContext, probes: Sequence[Probe], slice_name: str) -> Score:
        """Return the score of the probes of a slice."""
        probes_of_kind = [probe for probe in probes if probe.kind == self.kind]
        return probe_score(
            context,
            self.metric,
            probes_of_kind,
            self.values,
            slice_name=slice_name,
            variant=self.variant,
            reason=self.reason,
        )


def _metric_values(results: AssistantResults) -> list[_MetricValues]:
    """Return the values of each metric that is a mean over probes."""
    verdicts, oracle_verdicts = results.verdicts, results.oracle
    chance = chance_values(results.probes)
    oracle_with_chance = _values_with_chance(oracle_verdicts, chance)
    no_oracle = None if oracle_with_chance else NO_ORACLE
    return [
        _MetricValues("accuracy", _values(verdicts, "accuracy")),
        _MetricValues("accuracy", _values_with_chance(verdicts, chance), CHANCE),
        _MetricValues("random", chance),
        _MetricValues(PREVIOUS_STATE, previous_state_values(results.probes)),
        _MetricValues("upper_bound", _values(oracle_verdicts, "accuracy"), reason=no_oracle),
        _MetricValues("upper_bound", oracle_with_chance, CHANCE, reason=no_oracle),
        _MetricValues("state_match", _values(verdicts, "state_match"), kind="state"),
        _MetricValues(UNPARSED, _values(verdicts, UNPARSED)),
        _MetricValues(f"state_{UNPARSED}", _values(verdicts, UNPARSED), kind="state"),
        *(_MetricValues(metric, _values(verdicts, metric)) for metric in FAILURES.values()),
    ]


def _memory_scores(
    context: MetricContext, results: AssistantResults, probes: Sequence[Probe], slice_name: str
) -> Iterator[Score]:
    """Yield the memory score and its variants over the probes that both the assistant and the oracle answered."""
    choices = [probe for probe in probes if probe.kind == "choice"]
    periods = sorted({probe.checkpoint for probe in probes})
    chance = chance_values(choices)
    answers = [_values(verdicts, "accuracy") for verdicts in (results.verdicts, results.oracle)]
    with_chance = [_values_with_chance(verdicts, chance) for verdicts in (results.verdicts, results.oracle)]
    for variant in ("standard", "per_user_ratio", CHANCE):
        correct, oracle = with_chance if variant == CHANCE else answers
        answered_probes = [
            probe for probe in choices if probe.probe_id in correct and probe.probe_id in oracle
        ]
        users = list(dict.fromkeys(probe.episode_id for probe in answered_probes))
        sums = np.zeros((PARTS, len(users), len(periods)))
        for probe in answered_probes:
            user, period, key = users.index(probe.episode_id), periods.index(probe.checkpoint), probe.probe_id
            sums[:, user, period] += (correct[key], oracle[key], chance[key], 1.0)
        yield estimate(
            context,
            "memory_score",
            Sample(len(choices), len(answered_probes), len(users)),
            partial(statistic_interval, _statistic(variant, sums), len(users), seed=context.seed),
            slice_name=slice_name,
            variant=variant,
            reason=None if oracle else NO_ORACLE,
            undefined=NO_SCALE,
        )


def _statistic(variant: str, sums: Array) -> Callable[[Array], Array]:
    """Return the function from weights of the users to memory scores; `sums` has shape (PARTS, users, periods).

    The paper pools all users per period, then averages periods. The published code averages the ratios of all users
    and periods.
    """
    if variant != "per_user_ratio":
        return lambda weights: pooled_memory_score(np.concatenate([weights @ part for part in sums], axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = pooled_memory_score(np.concatenate(sums, axis=-1))
    return lambda weights: np.asarray((weights @ ratios) / weights.sum(axis=-1))


def factual_recall(context: MetricContext, results: AssistantResults) -> Iterator[Score]:
    """Yield the share of claims that the memory contains, overall and for each period.

    With several judges, each judge has a variant with the share by its own verdicts.
    """
    context = replace(context, scripted=results.scripted or results.scripted_judge)
    for variant in dict.fromkeys(claim.variant for claim in results.claims):
        claims = [claim for claim in results.claims if claim.variant == variant]
        slices = {"all": claims}
        for period in sorted({claim.checkpoint for claim in claims}):
            slices[f"period {period}"] = [claim for claim in claims if claim.checkpoint == period]
        for name, members in slices.items():
            values = ((claim.episode_id, claim.value) for claim in members if claim.value is not None)
            yield mean_score(
                context,
                FACTUAL_RECALL,
                sums_by_episode(values),
                len(members),
                slice_name=name,
                variant=variant,
                items="claims",
            )


def cycle_scores(context: MetricContext, results: AssistantResults, overall: Score) -> Iterator[Score]:
    """Yield the accuracy of each cycle of an evolving memory.

    The last cycle has the score `overall`, because all other scores are computed from that cycle.
    """
    steps_by_cycle: dict[int, list[Policy]] = {}
    for step in results.policies:
        if step.cycle > 0:
            steps_by_cycle.setdefault(step.cycle, []).append(step)
    for cycle, steps in sorted(steps_by_cycle.items()):
        sums: dict[str, tuple[float, int]] = {}
        for step in steps:
            correct_count, answer_count = sums.get(step.episode_id, (0.0, 0))
            sums[step.episode_id] = correct_count + step.correct, answer_count + step.answered
        # The row of a cycle counts the answers under the policy before it: the rows of cycle 1 have those of cycle 0.
        yield mean_score(
            context,
            "accuracy",
            [(correct_count, answer_count) for correct_count, answer_count in sums.values() if answer_count],
            sum(step.asked for step in steps),
            slice_name=f"cycle {cycle - 1}",
        )
    if steps_by_cycle:
        yield replace(overall, slice=f"cycle {max(steps_by_cycle)}")


def _values(verdicts: Sequence[Verdict], metric: str) -> dict[str, float]:
    return {row.probe_id: row.value for row in verdicts if row.metric == metric and row.value is not None}


def _values_with_chance(verdicts: Sequence[Verdict], chance: Mapping[str, float]) -> dict[str, float]:
    """Return the accuracy of each probe. A probe with an unparsed reply gets the accuracy of chance."""
    unparsed = _values(verdicts, UNPARSED)
    chance_values_ = {key: value for key, value in chance.items() if unparsed.get(key) == 1}
    return _values(verdicts, "accuracy") | chance_values_
