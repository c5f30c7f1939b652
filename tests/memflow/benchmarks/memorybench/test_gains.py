"""Scores with minus without feedback on the same question (MemoryBench, Tables 16 and 17)."""

from dataclasses import replace

import factories
import pytest
from generated import generate
from scipy import stats
from server_evaluation import evaluate

from memflow.benchmarks.memorybench.gains import gains_of
from memflow.benchmarks.memorybench.protocols import own_episode
from memflow.memories.registry import find
from memflow.records import Verdict


def verdict(case: str, side: str, value: float | None, dataset: str = "nfcats", **more: object) -> Verdict:
    of = {"episode_id": own_episode(case), "metric": "quality", **more}
    return factories.row(Verdict, probe_id=f"{case}/{side}", dataset=dataset, value=value, **of)


def pairs(without: list[float], gained: list[float], **more: object) -> list[Verdict]:
    return [
        verdict(f"c{at}", side, value, **more)
        for at, (before, gain) in enumerate(zip(without, gained, strict=True))
        for side, value in (("without", before), ("with", before + gain))
    ]


def test_gain_is_the_mean_difference_of_paired_cases_with_its_interval() -> None:
    gained = [0.5, 1.5, -0.5, 1.0, 2.0, 0.0, 1.0, 0.5]
    [gain] = gains_of("d", "full", pairs([1, 2, 3, 4, 2, 3, 1, 2], gained))
    assert (gain.dataset, gain.metric, gain.n) == ("nfcats", "quality", 8)
    assert gain.difference == pytest.approx(0.75) == gain.with_feedback - gain.without_feedback
    # Independent of the bootstrap: Student's interval of the mean difference, which is close to it.
    low, high = stats.t.interval(0.95, 7, 0.75, stats.sem(gained))
    assert (gain.low, gain.high) == (pytest.approx(low, abs=0.15), pytest.approx(high, abs=0.15))


def test_case_without_a_value_on_one_side_does_not_count() -> None:
    lost = [verdict("x", "without", 1.0), verdict("x", "with", None), verdict("y", "with", 5.0)]
    other = [replace(row, variant="published_code", value=0.0) for row in pairs([1, 1], [9, 9])]
    [gain] = gains_of("d", "full", [*pairs([1, 1], [2, 2]), *lost, *other])
    assert (gain.with_feedback, gain.without_feedback, gain.n) == (3, 1, 2)
    assert (gain.low, gain.high) == (None, None)  # two cases have no interval
    assert list(gains_of("d", "full", lost)) == []


def test_questions_about_a_corpus_are_one_unit_of_the_interval() -> None:
    rows = [row for at in range(3) for row in pairs([0, 0], [at, at + 1], dataset=f"x{at}")]
    one = [
        replace(row, dataset="locomo", episode_id="locomo-1", metric="locomo_f1")
        for row in pairs([0] * 6, [1] * 6)
    ]
    gains = {gain.dataset: gain for gain in gains_of("d", "full", [*rows, *one])}
    assert gains["locomo"].n == 6 and gains["locomo"].low is None  # one conversation
    assert [gains[f"x{at}"].difference for at in range(3)] == [0.5, 1.5, 2.5]


def test_demo_gains_from_the_dialogue_about_the_question_in_the_prompt_only() -> None:
    made, gains = generate("memorybench_demo_same"), {}
    for memory in ("full", "vanilla"):
        verdicts = evaluate(made, find(memory))["score.verdicts"]
        gains[memory] = {
            gain.dataset: gain.difference for gain in gains_of(made.domain.name, memory, verdicts)
        }
    assert {*gains["full"]} == {*gains["vanilla"]}
    assert gains["full"]["sample_academic"] > 0.1
    assert set(gains["vanilla"].values()) == {0.0}
