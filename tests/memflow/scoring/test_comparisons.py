"""All pairs of assistants of a domain: pairing with missing values, families of tests, and ranks."""

from collections.abc import Sequence
from dataclasses import replace

import factories
import numpy as np
import pytest
from paired_values import compare_pairs, pair_values

from memflow.metrics.diagnosis import memory_score
from memflow.records import Comparison
from memflow.scoring.comparison import NO_PAIRS
from memflow.scoring.comparisons import DomainContext, adjust_families, all_pairs, compare, with_ranks
from memflow.scoring.measures import (
    AggregateMeasure,
    PairedSums,
    VerdictValues,
    change_measures,
    mean_measures,
)

NAMES = ("a", "b", "c")
CONTEXT = DomainContext("d", NAMES, (False, True, False), seed=3)


def domain_values(episodes: int = 12, size: int = 8, missing: float = 0.1) -> VerdictValues:
    """Return accuracies of three assistants, some of which are missing."""
    rng = np.random.default_rng(1)
    probes = [
        factories.probe(probe_id=f"{episode}/{number}", episode_id=f"e{episode}")
        for number in range(size)
        for episode in range(episodes)
    ]
    found = (rng.random((len(NAMES), len(probes))) < np.array([[0.9], [0.4], [0.4]])).astype(float)
    found[rng.random(found.shape) < missing] = np.nan
    return VerdictValues(probes, NAMES, ("m", "m", "m"), (None, None, None), {"accuracy": found})


def rows_of(values: VerdictValues, slices: dict[str, frozenset[str]] | None = None) -> list[Comparison]:
    everything = {"all": frozenset(probe.probe_id for probe in values.probes)}
    measures = mean_measures("amemgym", values, slices or everything)
    return adjust_families(compare(CONTEXT, measures, all_pairs(len(NAMES))))


def test_comparison_of_all_pairs_equals_the_comparison_of_each_pair() -> None:
    values = domain_values()
    episodes = {probe.probe_id: probe.episode_id for probe in values.probes}
    by_name = {
        name: {
            probe.probe_id: float(value)
            for probe, value in zip(values.probes, row, strict=True)
            if np.isfinite(value)
        }
        for name, row in zip(NAMES, values.values["accuracy"], strict=True)
    }
    rows = rows_of(values)
    assert [(row.a, row.b) for row in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    for row in rows:
        pairing = pair_values(by_name[row.a], by_name[row.b], episodes)
        alone = compare_pairs(
            pairing.pairs, unpaired_a=pairing.unpaired_a, unpaired_b=pairing.unpaired_b, seed=CONTEXT.seed
        )
        assert (row.n, row.n_episodes, row.unpaired_a, row.unpaired_b) == (
            alone.n, alone.n_episodes, alone.unpaired_a, alone.unpaired_b,
        )  # fmt: skip
        assert (row.difference, row.low, row.high, row.p) == pytest.approx(
            (alone.difference, alone.low, alone.high, alone.p)
        )
        assert row.scripted == ("b" in (row.a, row.b))


def test_slices_are_compared_apart_and_empty_slices_not_at_all() -> None:
    values = domain_values()
    first = frozenset(f"{episode}/{number}" for episode in range(6) for number in range(8))
    rows = rows_of(values, {"first half": first, "nothing": frozenset()})
    assert {row.slice for row in rows} == {"first half"}
    assert {row.n_episodes for row in rows} == {6}


def test_assistants_without_common_probes_have_a_reason() -> None:
    values = domain_values(missing=0)
    values.values["accuracy"][0, ::2] = np.nan
    values.values["accuracy"][1, 1::2] = np.nan
    row = rows_of(values)[0]
    assert (row.difference, row.p_adjusted, row.n, row.reason) == (None, None, 0, NO_PAIRS)
    assert (row.unpaired_a, row.unpaired_b) == (48, 48)


def test_metrics_without_direction_and_other_metrics_are_not_compared() -> None:
    values = domain_values()
    values.values["upper_bound"] = values.values["state_match"] = values.values["accuracy"]
    assert {row.metric for row in rows_of(values)} == {"accuracy"}


def test_interval_stays_within_the_range_of_the_metric() -> None:
    values = domain_values(episodes=2, size=2, missing=0)
    values.values["accuracy"][:] = 0
    values.values["accuracy"][0, ::2] = 1
    for row in rows_of(values):
        assert row.low is None or row.low >= -1
        assert row.high is None or row.high <= 1


def test_aggregate_measure_compares_a_score_that_is_no_mean() -> None:
    rng = np.random.default_rng(2)
    right = rng.integers(2, 9, (2, 12, 1)).astype(float)
    parts = [
        np.hstack([each, np.full((12, 1), 9.5), np.full((12, 1), 2.5), np.full((12, 1), 10.0)])
        for each in right
    ]

    def score(sums: np.ndarray) -> np.ndarray:
        overall, upper, random, counts = np.split(sums, 4, axis=-1)
        return memory_score(overall / counts, upper / counts, random / counts)

    def pair(a: int, b: int) -> PairedSums:
        return PairedSums(parts[a], parts[b], 120, 1, 2)

    measure = AggregateMeasure("memory_score", "standard", pair, score, {2: "no oracle"})
    rows = compare(CONTEXT, [measure], all_pairs(3))
    assert rows[0].difference == pytest.approx((right[0].sum() - right[1].sum()) / 12 / 7)
    assert (rows[0].n, rows[0].unpaired_a, rows[0].unpaired_b) == (120, 1, 2)
    assert [row.reason for row in rows[1:]] == ["no oracle", "no oracle"]


def test_forgetting_is_compared_over_complete_questions() -> None:
    probes = [
        factories.probe(
            probe_id=f"{question}/{at}", question_id=question, episode_id="e", checkpoint=at, opens=at == 0
        )
        for question in ("x", "y")
        for at in range(3)
    ]
    answers = np.array([[0, 1, 0, 0, 1, 1], [0, 1, 1, 0, np.nan, 1]], dtype=float)
    values = VerdictValues(probes, ("a", "b"), ("m", "m"), (None, None), {"accuracy": answers})
    forgetting, always = change_measures(values, "accuracy", ("forgetting", "all_correct"))
    assert forgetting.values.tolist()[0] == [1.0, 0.0]
    assert always.values.tolist()[0] == [0.0, 1.0]
    assert np.isnan(forgetting.values[1]).tolist() == [False, True]


def comparison_rows(ps: Sequence[float]) -> list[Comparison]:
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    return [
        factories.comparison(a=a, b=b, difference=0.2, value_a=0.5, value_b=0.3, p=p, n=9, n_episodes=9)
        for (a, b), p in zip(pairs, ps, strict=True)
    ]


def test_family_of_tests_is_the_pairs_of_one_slice() -> None:
    rows = comparison_rows([0.01, 0.02, 0.5])
    other = replace(rows[0], slice="period 1", p=0.04)
    assert [row.p_adjusted for row in adjust_families([*rows, other])] == pytest.approx(
        [0.03, 0.04, 0.5, 0.04]
    )
    assert [row.better for row in adjust_families([*rows, other])] == ["a", "a", None, "a"]


def test_ranks_group_assistants_that_cannot_be_told_apart() -> None:
    rows = adjust_families(comparison_rows([0.01, 0.02, 0.5]))
    scores = [
        factories.score(assistant=name, value=value)
        for name, value in zip("abc", (0.5, 0.3, 0.3), strict=True)
    ]
    ranks = [(score.rank_low, score.rank_high) for score in with_ranks(scores, rows)]
    assert ranks == [(1, 1), (2, 3), (2, 3)]
