import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from memflow.benchmarks.memorybench.users.action_model import (
    PUBLISHED_HISTOGRAMS,
    ActionModel,
    Family,
    calibrate,
)

TABLE_5 = {
    1: (0.000, 15.091), 2: (0.002, 14.821), 3: (0.010, 13.723), 4: (0.045, 10.303), 5: (0.197, 4.867),
    6: (0.817, 1.446), 7: (2.748, 0.349), 8: (5.818, 0.079), 9: (7.749, 0.018), 10: (8.369, 0.004),
}  # fmt: skip
F1_SCORES = {1: 40, 4: 12, 5: 6, 6: 10, 8: 3, 10: 29}
models = st.builds(
    ActionModel,
    like_rate=st.floats(0, 0.5),
    dislike_rate=st.floats(0, 0.5),
    like_steepness=st.floats(0.05, 20),
    dislike_steepness=st.floats(0.05, 20),
    like_midpoint=st.floats(1, 10),
    dislike_midpoint=st.floats(1, 10),
    copies_per_like=st.floats(0, 100),
)
families = st.sampled_from(["general", "binary", "deterministic"])
histograms = st.dictionaries(st.integers(1, 10), st.floats(0.01, 1e6), min_size=1)


def test_calibrated_constants_of_published_histogram_match_paper() -> None:
    found = calibrate(PUBLISHED_HISTOGRAMS["general"])
    assert (found.c_like, found.c_dislike) == pytest.approx((0.0856668, 0.1517200), abs=5e-8)


@pytest.mark.parametrize("score", range(1, 11))
def test_action_probabilities_per_satisfaction_score_match_table_5(score: int) -> None:
    model = calibrate(PUBLISHED_HISTOGRAMS["general"])
    actions = model.actions(score)
    assert (100 * actions.like, 100 * actions.dislike) == pytest.approx(TABLE_5[score], abs=0.003)
    assert actions.copy == 0.0
    assert model.actions(score, long_output=True).copy == pytest.approx(4 * actions.like)


def test_action_probabilities_of_binary_family_match_paper() -> None:
    model = calibrate(PUBLISHED_HISTOGRAMS["binary"], "binary")
    right, wrong = model.actions(9), model.actions(3)
    assert (right.like, right.dislike) == (pytest.approx(0.099, abs=5e-4), 0.0)
    assert (wrong.like, wrong.dislike) == (0.0, pytest.approx(0.021, abs=5e-4))


@given(families, histograms, models)
def test_calibrated_like_and_dislike_rates_match_model_for_any_histogram(
    family: Family, histogram: dict[int, float], model: ActionModel
) -> None:
    of = calibrate(histogram, family, model)
    if any(actions.like + actions.dislike == 1 for actions in map(of.actions, histogram)):
        return  # a probability was clipped
    total = sum(histogram.values())
    likes = sum(share * of.actions(score).like for score, share in histogram.items()) / total
    dislikes = sum(share * of.actions(score).dislike for score, share in histogram.items()) / total
    assert likes == pytest.approx(model.like_rate if of.c_like else 0.0)
    assert dislikes == pytest.approx(model.dislike_rate if of.c_dislike else 0.0)


@pytest.mark.parametrize(
    "wrong", [{"like_rate": 0.7, "dislike_rate": 0.4}, {"like_steepness": 0}, {"like_midpoint": 11}, {"k": 1}]
)
def test_action_model_rejects_invalid_rates_and_parameters(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        ActionModel(**wrong)
