import numpy as np
import pytest

from memflow.metrics.diagnosis import Attribution, Unattributed, attribution, last_write, memory_score

# gpt-4.1-mini's upper bound by period, as the published scores imply it, and chance on v1.base.
UPPER = np.array([0.885, 0.895, 0.935, 0.935, 0.945, 0.935, 0.960, 0.920, 0.900, 0.905, 0.870])
CHANCE = np.full(11, 0.2307619)


class TestMemoryScore:
    @pytest.mark.parametrize(
        ("overall", "memory"),
        [(0.430, 0.291), (0.418, 0.275), (0.409, 0.262), (0.385, 0.227), (0.347, 0.172)],
    )
    def test_it_agrees_with_the_published_scores(self, overall, memory):
        # Only the means are known; the upper bound hardly moves, so the mean stands in for each period.
        assert float(memory_score(np.full(11, overall), UPPER, CHANCE)) == pytest.approx(memory, abs=0.006)

    def test_the_bounds_are_one_and_zero(self):
        assert float(memory_score(UPPER, UPPER, CHANCE)) == pytest.approx(1)
        assert float(memory_score(CHANCE, UPPER, CHANCE)) == pytest.approx(0)

    def test_below_chance_it_is_negative(self):
        assert float(memory_score(CHANCE - 0.1, UPPER, CHANCE)) < 0

    def test_it_is_a_mean_of_ratios_by_period_and_no_ratio_of_means(self):
        score = float(memory_score(np.array([0.5, 0.5]), np.array([1.0, 0.5]), np.array([0.25, 0.25])))
        assert score == pytest.approx((1 / 3 + 1) / 2)

    def test_without_room_above_chance_there_is_no_scale(self):
        assert np.isnan(memory_score(np.array([0.5, 0.5]), np.array([1.0, 0.25]), np.array([0.25, 0.25])))

    def test_many_at_once_give_one_score_each(self):
        assert memory_score(np.ones((5, 11)), np.ones((5, 11)), np.full((5, 11), 0.25)).shape == (5,)


A0, A1 = {"v": "a", "w": "x"}, {"v": "b", "w": "x"}


class TestAttribution:
    def test_a_right_answer_is_no_failure_even_by_luck(self):
        assert attribution([A0], [{"v": "?", "w": "?"}], [True]) == [Attribution()]

    def test_all_known_and_still_wrong_is_utilisation(self):
        assert attribution([A0], [A0], [False]) == [Attribution(utilisation=1)]

    def test_unknown_when_written_is_write_and_stays_so(self):
        found = attribution([A0, A1, A1], [A0, A0, A0], [True, False, False])
        assert found[1:] == [Attribution(write=1), Attribution(write=1)]

    def test_known_when_written_and_lost_since_is_read(self):
        found = attribution([A0, A1, A1], [A0, A1, A0], [True, True, False])
        assert found[2] == Attribution(read=1)

    def test_in_the_period_of_writing_nothing_is_read(self):
        for known in ({"v": "?", "w": "x"}, {"v": "?", "w": "?"}):
            assert attribution([A0], [known], [False]) == [Attribution(write=1)]

    def test_two_unknown_variables_share_the_failure(self):
        # v was never learnt after its change; w was known at the start and is lost.
        found = attribution([A0, A1], [A0, {"v": "a", "w": "y"}], [True, False])
        assert found[1] == Attribution(write=0.5, read=0.5)

    def test_a_value_that_comes_back_was_written_when_it_came_back(self):
        truth = [A0, A1, A0]
        assert [last_write(truth, "v", period) for period in range(3)] == [0, 1, 2]
        assert [last_write(truth, "w", period) for period in range(3)] == [0, 0, 0]

    def test_without_the_answers_it_rests_on_there_is_none(self):
        assert attribution([A0], [None], [False]) == [
            Unattributed("the state probe of period 0 has no answer")
        ]
        assert isinstance(attribution([A0], [A0], [None])[0], Unattributed)
        lost = attribution([A0, A0], [None, {"v": "?", "w": "x"}], [True, False])[1]
        assert isinstance(lost, Unattributed) and "period 0, when v was last written" in lost.reason
