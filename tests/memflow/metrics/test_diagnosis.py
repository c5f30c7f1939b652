import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.errors import BadInput
from memflow.metrics.diagnosis import (
    Attribution,
    Unattributed,
    attribute_by_states,
    last_change,
    memory_score,
)

# gpt-4.1-mini's upper bound by period, as the published scores imply it, and chance on v1.base.
UPPER = np.array([0.885, 0.895, 0.935, 0.935, 0.945, 0.935, 0.960, 0.920, 0.900, 0.905, 0.870])
CHANCE = np.full(11, 0.2307619)

# Share of the questions whose answer is still that of period 0, on v1.base: what an assistant scores that knows
# the first states only.
FIRST_STATES = [1.0, 0.625, 0.38, 0.215, 0.06, 0.02, 0.01, 0.045, 0.12, 0.165, 0.135]

# The published table: overall and memory score, each a mean over 11 periods.
PUBLISHED = {
    "AWE-(2,4,30)": (0.430, 0.291),
    "AWE-(2,8,30)": (0.421, 0.278),
    "AWE-(2,4,10)": (0.418, 0.275),
    "AWE-(4,4,30)": (0.409, 0.262),
    "AWE-(2,0,30)": (0.409, 0.261),
    "AWE-(2,4,50)": (0.401, 0.251),
    "AWE-(8,4,30)": (0.389, 0.233),
    "RAG-(2,4,30)": (0.385, 0.227),
    "gpt-4.1-mini": (0.367, 0.203),
    "AWI": (0.347, 0.172),
}


class TestMemoryScore:
    @pytest.mark.parametrize("name", PUBLISHED)
    def test_memory_score_equals_the_published_score_of_each_memory(self, name):
        # Only means over periods are printed; the upper bound moves little, so the mean stands in for each period.
        overall, memory = PUBLISHED[name]
        assert memory_score([overall] * 11, UPPER, CHANCE) == pytest.approx(memory, abs=0.0045)

    def test_upper_bound_per_period_has_the_published_mean(self):
        assert UPPER.mean() == pytest.approx(0.917, abs=0.0005)
        assert np.allclose(UPPER / 0.005, np.round(UPPER / 0.005))  # 200 questions

    def test_memory_score_of_agent_with_first_states_matches_hand_computed_value(self):
        score = memory_score(FIRST_STATES, [1.0] * 11, 0.2307619)
        by_hand = sum((right - 0.2307619) / (1 - 0.2307619) for right in FIRST_STATES) / 11
        assert score == pytest.approx(by_hand)
        assert score == pytest.approx(0.0279, abs=0.0001)

    @pytest.mark.parametrize(
        ("overall", "upper", "random", "said"),
        [
            ([0.5] * 11, [0.9] * 10, 0.2, "upper bound has (10,)"),
            ([0.5] * 11, [0.9] * 11, [0.2] * 10, "random has (10,)"),
            (0.43, UPPER, 0.2, "`overall` has the shape ()"),
            ([0.5], UPPER, 0.2, "`overall` has the shape (1,)"),
            ([], [], 0.2, "has no periods"),
        ],
    )
    def test_memory_score_rejects_mismatched_numbers_of_periods(self, overall, upper, random, said):
        with pytest.raises(BadInput) as wrong:
            memory_score(overall, upper, random)
        assert said in str(wrong.value)

    def test_memory_score_of_array_equals_scores_per_row(self):
        many = np.random.default_rng(0).uniform(0.2, 0.9, (5, 11))
        expected = [float(memory_score(each, UPPER, CHANCE)) for each in many]
        assert memory_score(many, UPPER, 0.2307619).tolist() == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("overall", "upper", "random", "score"),
        [
            (UPPER, UPPER, CHANCE, 1),
            (CHANCE, UPPER, CHANCE, 0),
            ([0.15, 0.15], [0.9, 0.9], 0.25, -0.1 / 0.65),  # below chance
            ([0.5, 0.5], [1.0, 0.5], [0.25, 0.25], (1 / 3 + 1) / 2),  # a mean of ratios
            ([0.5, 0.5], [1.0, 0.25], [0.25, 0.25], np.nan),  # no room above chance
            (0.5, 0.9, 0.1, 0.5),  # one period
            ([0.5], [0.9], [0.1], 0.5),
        ],
    )
    def test_memory_score_matches_hand_computed_values(self, overall, upper, random, score):
        assert float(memory_score(overall, upper, random)) == pytest.approx(score, nan_ok=True)


A0, A1, UNKNOWN = {"v": "a", "w": "x"}, {"v": "b", "w": "x"}, {"v": "?", "w": "?"}


class TestAttribution:
    @pytest.mark.parametrize(
        ("truth", "known", "right", "last"),
        [
            ([A0], [UNKNOWN], [True], Attribution()),
            ([A0], [A0], [False], Attribution(utilization=1)),
            ([A0, A1], [A0, A0], [True, False], Attribution(write=1)),
            ([A0, A1, A1], [A0, A0, A0], [True, False, False], Attribution(write=1)),
            ([A0, A1, A1], [A0, A1, A0], [True, True, False], Attribution(read=1)),
            # The period of a change has no read failure.
            ([A0], [{"v": "?", "w": "x"}], [False], Attribution(write=1)),
            ([A0], [UNKNOWN], [False], Attribution(write=1)),
            # v was never learned after its change; w was known at the start and is lost.
            ([A0, A1], [A0, {"v": "a", "w": "y"}], [True, False], Attribution(write=0.5, read=0.5)),
            ([A0], [None], [False], Unattributed("the state probe of period 0 has no answer")),
            ([A0], [A0], [None], Unattributed("the question has no answer")),
        ],
    )
    def test_attribute_by_states_finds_failure_from_true_and_known_states(self, truth, known, right, last):
        assert attribute_by_states(truth, known, right)[-1] == last

    def test_last_change_counts_the_return_of_an_old_value_as_a_change(self):
        truth = [A0, A1, A0]
        assert [last_change(truth, "v", period) for period in range(3)] == [0, 1, 2]
        assert [last_change(truth, "w", period) for period in range(3)] == [0, 0, 0]

    def test_attribute_by_states_rejects_unequal_numbers_of_periods(self):
        with pytest.raises(BadInput, match="`truth` has 2 periods, `known` 1 and `right` 2"):
            attribute_by_states([A0, A1], [A0], [True, True])

    def test_failure_is_unattributed_if_the_probe_at_the_last_change_is_missing(self):
        lost = attribute_by_states([A0, A0], [None, {"v": "?", "w": "x"}], [True, False])[1]
        assert "period 0, when v was last written" in lost.reason

    @given(st.data())
    def test_attribution_by_states_equals_attribution_by_the_counts_of_the_published_code(self, data):
        """Count failures as the published code does, from the probes that the attribution uses."""
        names, values = ("v", "w", "x")[: data.draw(st.integers(1, 3))], st.sampled_from("ab")
        periods = data.draw(st.integers(1, 6))
        states = st.fixed_dictionaries(dict.fromkeys(names, values))
        truth = data.draw(st.lists(states, min_size=periods, max_size=periods))
        known = data.draw(st.lists(states, min_size=periods, max_size=periods))
        right = data.draw(st.lists(st.booleans(), min_size=periods, max_size=periods))
        writes, reads = np.zeros(periods), np.zeros(periods)
        for period in range(periods):
            for name in names:
                if known[period][name] != truth[period][name]:
                    then = last_change(truth, name, period)
                    failed_then = known[then][name] != truth[then][name]
                    (writes if failed_then else reads)[period] += 1
        for row, write, read, is_right in zip(
            attribute_by_states(truth, known, right), writes, reads, right, strict=True
        ):
            loss, failing = float(not is_right), write + read
            shares = (loss * write / failing, loss * read / failing, 0.0) if failing else (0.0, 0.0, loss)
            assert (row.write, row.read, row.utilization) == pytest.approx(shares)
