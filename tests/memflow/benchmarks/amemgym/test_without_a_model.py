"""Self-tests of AMemGym without a model. Expected values are for all 20 and for 12 users.

The tests cover the random baseline; an oracle; an agent that knows period 0 only; an agent that is one period late; an
agent that forgets; write + read + utilization = 1 - accuracy; the number of buffer writes; published memory scores.
"""

import json
from collections import Counter

import numpy as np
import pytest
from amemgym_agents import figures, forgets_after, frozen, one_period_late, overall, perfect, verdicts_of
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from memflow.benchmarks.amemgym.states import histories
from memflow.metrics.diagnosis import last_change, memory_score

PERIODS = range(11)
RANDOM = {12: 0.2286905, 20: 0.2307619}
AGES = {
    12: [726, 606, 480, 362, 243, 123, 55, 25, 16, 4],
    20: [1213, 1014, 794, 600, 396, 207, 92, 47, 28, 9],
}
"""How many states, of all that are asked for, were last written 0, 1, 2, ... periods before."""
AS_IN_PERIOD_0 = {
    12: [120, 75, 46, 27, 8, 2, 0, 4, 11, 15, 14],
    20: [200, 125, 76, 43, 12, 4, 2, 9, 24, 33, 27],
}
"""In each period, the questions whose states are those of period 0."""


@pytest.fixture(params=["demo", "base"])
def made(request):
    return request.getfixturevalue(request.param)


def known(base, table: dict):
    users = len(base.records)
    if users not in table:
        pytest.skip(f"the file has {users} users; the numbers for 12 and for 20 are known")
    return table[users]


def by_period(rows, metric: str) -> list[float]:
    return [rows[metric, "standard", f"period {period}"].value for period in PERIODS]


def test_random_accuracy_matches_hand_computed_value_in_every_period(base):
    rows = figures(base, verdicts_of(base, perfect))
    users = [json.loads(record.content) for record in base.records]
    by_hand = [1 / len(question["answer_choices"]) for user in users for question in user["qas"]]
    assert by_period(rows, "random") == pytest.approx([sum(by_hand) / len(by_hand)] * 11)
    assert rows["random", "standard", "all"].value == pytest.approx(known(base, RANDOM), abs=1e-7)


def test_agent_that_knows_all_states_has_accuracy_1_and_no_failures(made):
    found = overall(made, perfect)
    for metric in ("accuracy", "upper_bound", "memory_score", "state_match"):
        assert found[metric] == pytest.approx(1)
    assert [found[metric] for metric in ("write_failure", "read_failure", "utilization_failure")] == [0, 0, 0]


def test_agent_frozen_in_period_0_has_precomputed_accuracy_per_period(base):
    rows = figures(base, verdicts_of(base, frozen))
    right = [round(value * 10 * len(base.records), 6) for value in by_period(rows, "accuracy")]
    assert right == known(base, AS_IN_PERIOD_0)


@pytest.mark.parametrize("knows", [frozen, one_period_late])
def test_all_errors_of_frozen_or_late_agent_are_write_failures(made, knows):
    found = overall(made, knows)
    assert found["accuracy"] < 1
    assert found["write_failure"] == pytest.approx(1 - found["accuracy"])
    assert found["read_failure"] == found["utilization_failure"] == 0


@pytest.mark.parametrize("periods", [0, 1, 3])
def test_all_errors_of_agent_that_forgets_states_are_read_failures(made, periods):
    rows = figures(made, verdicts_of(made, forgets_after(periods)))
    found = {metric: row.value for (metric, _, part), row in rows.items() if part == "all"}
    assert found["read_failure"] == pytest.approx(1 - found["accuracy"])
    assert found["write_failure"] == found["utilization_failure"] == 0
    for period in range(periods + 1):
        if ("read_failure", "standard", f"period {period}") in rows:
            assert rows["read_failure", "standard", f"period {period}"].value == 0


def test_numbers_of_states_per_age_match_precomputed_counts(base):
    histories_by_user = histories(base.states)
    ages = Counter(
        probe.checkpoint - last_change(histories_by_user[probe.episode_id].periods, name, probe.checkpoint)
        for probe in base.of_kind("state")
        for name in probe.variables
    )
    assert [ages[age] for age in range(max(ages) + 1)] == known(base, AGES)


@examples(15)
@given(seed=st.integers(0, 2**32 - 1))
def test_write_read_and_utilization_failures_add_up_to_error_rate(demo, seed):
    def knows(history, period, name):
        whims = (frozen, one_period_late, forgets_after(1), perfect)
        return whims[(seed >> (2 * (len(name) + period) % 16)) % 4](history, period, name)

    for clumsy in (False, True):
        rows = figures(demo, verdicts_of(demo, knows, clumsy=clumsy))
        parts = {part for metric, variant, part in rows if (metric, variant) == ("accuracy", "standard")}
        assert {"all", "period 0", "period 3"} <= parts
        for part in parts:
            values = [
                rows[f"{kind}_failure", "standard", part].value for kind in ("write", "read", "utilization")
            ]
            assert sum(values) == pytest.approx(1 - rows["accuracy", "standard", part].value)
            assert min(values) >= 0


UPPER = [0.885, 0.895, 0.935, 0.935, 0.945, 0.935, 0.960, 0.920, 0.900, 0.905, 0.870]
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
"""Published means over the periods: overall, and memory score. Of the upper bound each period is known."""


@pytest.mark.parametrize("agent", PUBLISHED)
def test_memory_score_from_published_mean_accuracy_matches_paper(agent):
    """Compute the score from the mean over the periods, which is accurate to 0.006, since upper bounds differ."""
    mean, score = PUBLISHED[agent]
    found = memory_score(np.full(11, mean), np.array(UPPER), np.full(11, RANDOM[20]))
    assert float(found) == pytest.approx(score, abs=0.006)
