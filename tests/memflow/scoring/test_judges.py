"""Several judges: variant names, the mean over judges, the band of a score, and claims."""

import factories
from hypothesis import given
from hypothesis import strategies as st

from memflow.records import Claim
from memflow.scoring.judges import (
    JudgedValue,
    JudgeVariant,
    average_judges,
    judge_variant,
    mean_of_judges,
    parse_variant,
    with_judge_columns,
)


@given(st.sampled_from(["standard", "published_code", "without_bertscore"]), st.text(min_size=1))
def test_parse_variant_returns_the_base_and_judge_of_a_variant_name(base: str, judge: str):
    if "\n" not in judge:
        assert parse_variant(judge_variant(base, judge)) == JudgeVariant(base, judge)


def test_mean_of_judges_has_reason_instead_of_value_if_a_judge_has_no_value():
    assert mean_of_judges({"a": JudgedValue(2), "b": JudgedValue(5)}) == JudgedValue(3.5)
    failed = mean_of_judges({"a": JudgedValue(2), "b": JudgedValue(None, "cut")})
    assert failed == JudgedValue(None, "judge b: cut")
    missing = JudgedValue(None, "no reply")
    assert mean_of_judges({"a": missing, "b": missing}) == missing


def score(variant: str, value: float | None, **more):
    return factories.score(metric="criteria", variant=variant, value=value, **more)


def test_mean_score_has_lowest_and_highest_judge_score_of_its_slice():
    scores = [
        score("standard", 5.0),
        score("judge_a", 4.0),
        score("judge_b", 6.0),
        score("standard", 3.0, slice="dataset x"),
        score("published_code", 2.0),
    ]
    found = with_judge_columns(scores)
    assert [(each.judge_low, each.judge_high) for each in found] == [(4.0, 6.0), *[(None, None)] * 4]


def test_self_judges_are_named_in_scores_of_judged_metrics_only():
    other = factories.score(metric="rouge_l", value=0.5)
    scores = [score("standard", 5.0), score("judge_a", 4.0), score("judge_b", 6.0), other]
    found = with_judge_columns(scores, frozenset({"criteria"}), ["b"])
    assert [each.self_judges for each in found] == [["b"], [], ["b"], []]


def claim(value: float | None, reason: str | None = None) -> Claim:
    return Claim(
        domain="d", assistant="a", claim_id="c", episode_id="e", checkpoint=0, text="t", value=value, reason=reason,
        completion="digest", model="m",
    )  # fmt: skip


def test_claims_of_two_judges_become_a_mean_row_and_one_row_per_judge():
    found = average_judges({"a": [claim(1.0)], "b": [claim(0.0)]}, model=None)
    assert [(row.variant, row.value) for row in found] == [
        ("standard", 0.5), ("judge_a", 1.0), ("judge_b", 0.0),
    ]  # fmt: skip
    assert (found[0].completion, found[1].completion) == (None, "digest")
