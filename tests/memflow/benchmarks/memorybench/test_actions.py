import pytest

from memflow.benchmarks.memorybench.actions import PUBLISHED, Actions, constants, draw
from memflow.benchmarks.memorybench.feedback import action_probabilities, satisfaction
from memflow.errors import BadInput


def test_the_constants_are_those_of_the_paper() -> None:
    assert constants(PUBLISHED) == pytest.approx((0.0856668, 0.1517200), abs=5e-8)


@pytest.mark.parametrize(
    ("score", "like", "dislike"),
    [(1, 0.000, 15.091), (4, 0.045, 10.303), (7, 2.748, 0.349), (8, 5.818, 0.079), (10, 8.369, 0.004)],
)
def test_the_probabilities_are_those_of_table_5(score: int, like: float, dislike: float) -> None:
    actions = action_probabilities(score)
    assert (100 * actions.like, 100 * actions.dislike) == pytest.approx((like, dislike), abs=0.003)
    assert actions.copy == 0.0
    assert action_probabilities(score, long_output=True).copy == pytest.approx(4 * actions.like)


@pytest.mark.parametrize("histogram", [PUBLISHED, {3: 13, 9: 17}, {6: 5, 10: 1}])
def test_the_rates_come_out_over_the_population(histogram: dict[int, float]) -> None:
    total = sum(histogram.values())
    chances = {score: action_probabilities(score, "locomo", histogram) for score in histogram}
    likes = sum(share * chances[score].like for score, share in histogram.items()) / total
    dislikes = sum(share * chances[score].dislike for score, share in histogram.items()) / total
    assert (likes, dislikes) == pytest.approx((0.0559, 0.0091))


def test_a_one_sided_population_has_no_probability_above_one() -> None:
    actions = action_probabilities(10, histogram={1: 1_000_000, 10: 1})
    assert actions.like <= 1.0
    assert actions.like + actions.dislike <= 1.0


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(BadInput, match="no action model"):
        action_probabilities(5, "dialsim")
    with pytest.raises(BadInput, match="at least one"):
        constants({})


def test_likes_and_dislikes_exclude_each_other_and_copies_are_free() -> None:
    drawn = [draw(Actions(0.5, 0.5, 0.5), seed) for seed in range(400)]
    assert all(one.liked != one.disliked for one in drawn)
    assert 150 < sum(one.liked for one in drawn) < 250
    assert 60 < sum(one.copied and one.disliked for one in drawn) < 140
    assert draw(Actions(0.5, 0.5, 0.5), 7) == drawn[7]


@pytest.mark.parametrize(
    ("f1", "points"), [(1.0, 10), (0.9, 10), (0.8, 9), (0.7, 8), (0.5, 6), (0.49, 5), (0.3, 4), (0.0, 1)]
)
def test_satisfaction_goes_through_the_papers_points(f1: float, points: int) -> None:
    assert satisfaction(f1) == points
    assert satisfaction(f1 - 1e-16) == points
