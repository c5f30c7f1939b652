"""Verdicts and figures of agents whose knowledge the test decides: what each must score, and fail by.

What the benchmark's facts say of such agents is test_without_a_model.py.
"""

from dataclasses import replace

import pytest
from knowing import figures, frozen, one_period_late, overall, perfect, replies, verdicts_of

from memflow.benchmarks.amemgym import AMemGym
from memflow.benchmarks.amemgym.states import histories
from memflow.errors import BadInput


@pytest.fixture(params=["demo", "base"])
def made(request):
    return request.getfixturevalue(request.param)


def test_what_is_known_and_not_used_fails_only_by_utilisation(made):
    found = overall(made, perfect, clumsy=True)
    assert (found["accuracy"], found["utilisation_failure"], found["state_match"]) == (0, 1, 1)


def test_a_state_probe_matches_when_every_variable_does(made):
    lives = histories(made.states)
    same = [
        lives[probe.episode_id].periods[0][name] == lives[probe.episode_id].periods[probe.checkpoint][name]
        for probe in made.of_kind("state")
        for name in probe.variables
    ]
    share = sum(a and b for a, b in zip(same[::2], same[1::2], strict=True)) / (len(same) / 2)
    assert overall(made, frozen)["state_match"] == pytest.approx(share)


def test_the_memory_score_pools_users_in_a_period_and_its_variant_does_not(base):
    rows = figures(base, verdicts_of(base, frozen))
    ratios = [
        (rows[("accuracy", "standard", part)].value - rows[("random", "standard", part)].value)
        / (rows[("upper_bound", "standard", part)].value - rows[("random", "standard", part)].value)
        for part in (f"period {period}" for period in range(11))
    ]
    assert rows[("memory_score", "standard", "all")].value == pytest.approx(sum(ratios) / 11)
    assert rows[("memory_score", "standard", "period 3")].value == pytest.approx(ratios[3])
    variant = rows[("memory_score", "per_user_ratio", "all")].value
    assert variant != pytest.approx(sum(ratios) / 11, abs=1e-6)


def test_figures_have_intervals_that_hold_them(base):
    rows = figures(base, verdicts_of(base, one_period_late))
    row = rows[("accuracy", "standard", "all")]
    assert row.low < row.value < row.high
    assert (row.n, row.n_episodes, row.coverage) == (len(base.of_kind("choice")), len(base.records), 1)
    memory = rows[("memory_score", "standard", "all")]
    assert memory.low < memory.value < memory.high


def test_without_the_oracle_there_is_no_memory_score(demo):
    rows = figures(demo, verdicts_of(demo, frozen), oracle=[])
    for metric in ("memory_score", "upper_bound"):
        row = rows[(metric, "standard", "all")]
        assert row.value is None and "oracle has not been scored" in row.reason
    assert rows[("accuracy", "standard", "all")].value is not None


def test_an_upper_bound_at_chance_gives_no_scale(demo):
    rows = figures(demo, verdicts_of(demo, frozen), oracle=verdicts_of(demo, perfect, clumsy=True))
    row = rows[("memory_score", "standard", "all")]
    assert row.value is None and "above chance" in row.reason


def test_a_reply_without_an_answer_is_no_verdict_and_no_zero(demo):
    given = replies(demo, perfect)
    lost = {probe.probe_id for probe in demo.of_kind("choice")[:5]}
    given = [
        replace(row, parsed=None, reason="half a JSON") if row.probe_id in lost else row for row in given
    ]
    verdicts = AMemGym().verdicts(demo.domain, demo.probes, given)
    assert len(verdicts) == 5 * len(demo.of_kind("choice"))
    for row in verdicts:
        assert (row.value is None) == (row.probe_id in lost) == (row.reason is not None)
    row = figures(demo, verdicts, oracle=verdicts_of(demo, perfect))[("accuracy", "standard", "all")]
    assert row.value is None and "43 of 48 probes have a verdict" in row.reason
    assert row.coverage == pytest.approx(43 / 48)


def test_few_lost_replies_leave_the_figure_standing(demo):
    given = replies(demo, perfect)
    given[0] = replace(given[0], parsed=None, reason="half a JSON")
    rows = figures(demo, AMemGym().verdicts(demo.domain, demo.probes, given))
    assert rows[("accuracy", "standard", "all")].value == 1
    assert rows[("accuracy", "standard", "all")].coverage == pytest.approx(47 / 48)


def test_a_lost_state_probe_takes_the_attribution_and_leaves_the_accuracy(demo):
    given = replies(demo, frozen)
    state = [probe.probe_id for probe in demo.of_kind("state")]
    given = [replace(row, parsed=None, reason="nothing") if row.probe_id in state else row for row in given]
    rows = AMemGym().verdicts(demo.domain, demo.probes, given)
    wrong = {row.probe_id for row in rows if row.metric == "accuracy" and row.value == 0}
    for row in rows:
        if row.metric.endswith("_failure"):
            assert (row.value is None) == (row.probe_id in wrong)
            assert row.value is not None or "state probe of period" in row.reason


def test_an_option_that_is_not_there_is_no_wrong_answer(demo):
    given = replies(demo, perfect)
    given[0] = replace(given[0], parsed="17")
    row = AMemGym().verdicts(demo.domain, demo.probes, given)[0]
    assert row.value is None and "'17' is none of the options 1 to" in row.reason


def test_a_quarantined_probe_and_one_that_was_not_asked_say_so(demo):
    probes = [replace(demo.probes[0], reason="no message tells it"), *demo.probes[1:]]
    rows = AMemGym().verdicts(demo.domain, probes, replies(demo, perfect)[:-1])
    assert rows[0].reason == "the probe is quarantined: no message tells it"
    assert "was not answered" in rows[-1].reason


def test_replies_of_two_assistants_are_not_mixed(demo):
    given = replies(demo, perfect)
    given[3] = replace(given[3], assistant="another")
    with pytest.raises(BadInput, match="one assistant"):
        AMemGym().verdicts(demo.domain, demo.probes, given)
