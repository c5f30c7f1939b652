"""The noise of scores and differences between repeats."""

import math
from dataclasses import replace

import factories
import pytest

from memflow.records import Comparison, Score
from memflow.scoring.noise import with_difference_noise, with_noise
from memflow.scoring.noise_labels import noise_notes, noise_text


def score(assistant: str, value: float | None, **given: object) -> Score:
    return factories.score(
        **{
            "domain": "d",
            "assistant": assistant,
            "metric": "accuracy",
            "slice": "all",
            "value": value,
            **given,
        }
    )


FIRST = [score("full", 0.5), score("rag", 0.7)]
REPEATS = [
    score("full~answers2", 0.6), score("rag~answers2", 0.7), score("full~answers3", 0.7), score("rag~answers3", 0.7),
]  # fmt: skip


def test_noise_is_pooled_over_assistants_and_scores_stay_those_of_the_first_evaluation() -> None:
    full, rag = with_noise(FIRST, REPEATS)
    assert (full.value, full.repeats, full.repeats_of, full.repeat_mean) == (
        0.5,
        3,
        "answers",
        pytest.approx(0.6),
    )
    # The deviation of an assistant's own evaluations is what AMemGym's Table 8 prints.
    assert (full.repeat_deviation, rag.repeat_deviation) == (pytest.approx(0.1), 0)
    assert full.noise == rag.noise == pytest.approx(math.sqrt(0.02 / 4))
    assert full.noise_degrees == 4 and full.noise_low < full.noise < full.noise_high
    assert replace(
        full, repeats=None, repeats_of=None, repeat_mean=None, repeat_deviation=None, noise=None, noise_low=None,
        noise_high=None, noise_degrees=None,
    ) == FIRST[0]  # fmt: skip
    assert noise_text(full) == "±0.071 (3)"
    assert noise_text(full, interval=True) == "±0.071 [0.042 0.203] (3)"
    assert "repeats of the answers" in noise_notes([full, rag])[0]


def test_slices_and_domains_are_pooled_separately() -> None:
    others = [score("full~answers2", 0.9, slice="period 1"), score("full~answers2", 0.9, domain="e")]
    assert with_noise(FIRST, others) == FIRST


def test_repeats_of_runs_come_before_those_of_answers_and_the_judge() -> None:
    more = [score("full~run2", 0.9), score("full~judge2", 0.5)]
    full, rag = with_noise(FIRST, [*more, *REPEATS])
    assert (full.repeats, full.repeats_of, full.noise_degrees) == (2, "run", 1)
    assert full.noise == pytest.approx(math.sqrt(0.08))
    assert (rag.repeats_of, rag.noise) == ("answers", 0.0)


def compared(difference: float | None, scores: list[Score]) -> Comparison:
    row = factories.comparison(domain="d", metric="accuracy", a="full", b="rag", difference=difference)
    return with_difference_noise([row], scores)[0]


def test_difference_has_the_noise_of_both_scores() -> None:
    scores = with_noise(FIRST, REPEATS)
    row = compared(-0.2, scores)
    assert row.noise == pytest.approx(0.1)
    assert row.noise_low == pytest.approx(2**0.5 * scores[0].noise_low)
    assert row.within_noise is True  # Student's t with 4 degrees of freedom: up to 0.2776
    assert compared(-0.28, scores).within_noise is False


def test_difference_without_noise_of_one_kind_on_both_sides_has_none() -> None:
    mixed = with_noise(FIRST, [score("full~run2", 0.9), score("rag~answers2", 0.7)])
    assert compared(-0.2, mixed).noise is None
    assert compared(-0.2, FIRST).within_noise is None
    assert compared(None, with_noise(FIRST, REPEATS)).noise is None
