"""Verdicts and scores of agents with known behavior."""

from dataclasses import replace

import pytest
from amemgym_agents import figures, frozen, one_period_late, overall, perfect, replies, verdicts_of

from memflow.benchmarks.amemgym.states import histories
from memflow.benchmarks.amemgym.verdicts import FAILURES, make_verdicts
from memflow.records import Reply


def unparsed(rows: list[Reply], lost: set[str]) -> list[Reply]:
    """Return the replies, where those to the probes `lost` could not be parsed."""
    return [replace(row, parsed=None, reason="half a JSON") if row.probe_id in lost else row for row in rows]


@pytest.fixture(params=["demo", "demo_by_variable", "base"])
def made(request):
    return request.getfixturevalue(request.param)


def test_wrong_choice_with_correct_state_answer_is_utilization_failure(made):
    found = overall(made, perfect, clumsy=True)
    assert (found["accuracy"], found["utilization_failure"], found["state_match"]) == (0, 1, 1)


def test_state_answer_is_correct_only_if_every_variable_is_correct(made):
    histories_by_user = histories(made.states)
    same = [
        histories_by_user[probe.episode_id].periods[0][name]
        == histories_by_user[probe.episode_id].periods[probe.checkpoint][name]
        for probe in made.of_kind("state")
        for name in probe.variables
    ]
    # Two variables to a probe, or one.
    pairs = (
        zip(same[::2], same[1::2], strict=True)
        if made.of_kind("state")[0].parent
        else [(one, True) for one in same]
    )
    right = [a and b for a, b in pairs]
    share = sum(right) / len(right)
    assert overall(made, frozen)["state_match"] == pytest.approx(share)


def test_memory_score_pools_users_per_period_and_averages_over_periods(base):
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


def test_memory_score_and_upper_bound_without_oracle_are_null_with_reason(demo):
    rows = figures(demo, verdicts_of(demo, frozen), oracle=[])
    for metric in ("memory_score", "upper_bound"):
        row = rows[(metric, "standard", "all")]
        assert row.value is None and "oracle has no scores" in row.reason
    assert rows[("accuracy", "standard", "all")].value is not None


def test_memory_score_is_null_if_oracle_is_not_above_chance(demo):
    rows = figures(demo, verdicts_of(demo, frozen), oracle=verdicts_of(demo, perfect, clumsy=True))
    row = rows[("memory_score", "standard", "all")]
    assert row.value is None and "above chance" in row.reason


def test_unparsed_reply_has_verdict_without_value_and_lowers_coverage(demo):
    lost = {probe.probe_id for probe in demo.of_kind("choice")[:5]}
    given = unparsed(replies(demo, perfect), lost)
    verdicts = make_verdicts(demo.domain, demo.probes, given)
    assert len(verdicts) == 2 * len(demo.of_kind("state")) + 5 * len(demo.of_kind("choice"))
    for row in verdicts:
        if row.metric == "unparsed":
            assert row.value == (row.probe_id in lost)
        else:
            assert (row.value is None) == (row.probe_id in lost) == (row.reason is not None)
    rows = figures(demo, verdicts, oracle=verdicts_of(demo, perfect))
    row = rows[("accuracy", "standard", "all")]
    assert row.value is None and "43 of 48 probes have a value" in row.reason
    assert row.coverage == pytest.approx(43 / 48)
    assert rows[("unparsed", "standard", "all")].value == pytest.approx(5 / 48)
    assert rows[("state_unparsed", "standard", "all")].value == 0


def test_chance_for_unparsed_variant_scores_unparsed_reply_as_random_guess(demo):
    lost = demo.of_kind("choice")[:5]
    given = unparsed(replies(demo, perfect), {probe.probe_id for probe in lost})
    rows = figures(demo, make_verdicts(demo.domain, demo.probes, given))
    guessed = sum(1 / len(probe.options) for probe in lost)
    row = rows[("accuracy", "chance_for_unparsed", "all")]
    assert row.value == pytest.approx((43 + guessed) / 48)
    assert (row.n, row.coverage, row.reason) == (48, 1, None)
    ratios = [
        (
            rows[("accuracy", "chance_for_unparsed", f"period {at}")].value
            - rows[("random", "standard", f"period {at}")].value
        )
        / (1 - rows[("random", "standard", f"period {at}")].value)
        for at in range(4)
    ]
    assert rows[("memory_score", "chance_for_unparsed", "all")].value == pytest.approx(sum(ratios) / 4)
    assert rows[("memory_score", "chance_for_unparsed", "period 0")].value == pytest.approx(ratios[0])
    assert rows[("memory_score", "standard", "all")].value is None


def test_unparsed_state_reply_leaves_wrong_choice_without_failure_attribution(demo):
    given = unparsed(replies(demo, frozen), {probe.probe_id for probe in demo.of_kind("state")})
    rows = make_verdicts(demo.domain, demo.probes, given)
    wrong = {row.probe_id for row in rows if row.metric == "accuracy" and row.value == 0}
    for row in rows:
        if row.metric.endswith("_failure"):
            assert (row.value is None) == (row.probe_id in wrong)
            assert row.value is not None or "state probe of period" in row.reason


def test_failures_and_unattributed_errors_sum_to_the_wrong_answers(demo):
    given = replies(demo, one_period_late)
    verdicts = make_verdicts(demo.domain, demo.probes, given)
    wrong = [row.probe_id for row in verdicts if row.metric == "accuracy" and row.value == 0]
    lost = f"{wrong[0].rpartition('/')[0]}/s{wrong[0][-1]}"
    rows = figures(demo, make_verdicts(demo.domain, demo.probes, unparsed(given, {lost})))
    accuracy, *failures = (rows[metric, "standard", "all"] for metric in ("accuracy", *FAILURES.values()))
    assert [failure.n for failure in failures] == [47] * 3
    attributed = sum(failure.n * failure.value for failure in failures)
    assert attributed + accuracy.n - 47 == pytest.approx(accuracy.n * (1 - accuracy.value))


def test_unparsed_reply_about_a_variable_removes_only_attributions_that_use_the_variable(demo_by_variable):
    made, given = demo_by_variable, replies(demo_by_variable, frozen)
    right = make_verdicts(made.domain, made.probes, given)
    wrong = {row.probe_id for row in right if row.metric == "accuracy" and row.value == 0}
    last = [probe for probe in made.of_kind("choice") if probe.checkpoint == 3 and probe.probe_id in wrong]
    (probe,) = [
        probe
        for probe in made.of_kind("state")
        if (probe.episode_id, probe.checkpoint, probe.variables)
        == (last[0].episode_id, 3, last[0].variables[:1])
    ]
    rows = make_verdicts(made.domain, made.probes, unparsed(given, {probe.probe_id}))
    lost = {row.probe_id for row in rows if row.metric == "write_failure" and row.value is None}
    assert lost == {
        each.probe_id
        for each in last
        if each.episode_id == probe.episode_id and probe.variables[0] in each.variables
    }


def test_reply_with_invalid_option_number_has_no_value_but_a_reason(demo):
    given = replies(demo, perfect)
    given[0] = replace(given[0], parsed="17")
    row = make_verdicts(demo.domain, demo.probes, given)[0]
    assert row.value is None and "'17' is not the number of an option. Pass a number from 1 to" in row.reason
