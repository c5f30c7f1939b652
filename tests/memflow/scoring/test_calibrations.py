"""The calibration of judges on scores: columns, reasons, and the lines that name what is withheld."""

from dataclasses import replace

import factories
import pytest

from memflow.judges import calibration
from memflow.records import Calibration
from memflow.scoring.calibrations import (
    NO_VERDICTS,
    NOT_SCORED,
    PASSED,
    with_calibrations,
    withheld_lines,
)

JUDGED = frozenset({"j_2025", "j_strict"})
PASSES = Calibration(
    domain="d", judge="small", metric="j_2025", prompt="locomo/j_2025", language="en", cases=117, right=52,
    accepted_right=50, sensitivity=0.96, sensitivity_low=0.9, sensitivity_high=0.99, wrong=65, accepted_wrong=2,
    specificity=0.97, specificity_low=0.9, specificity_high=0.99, out_of_form=0, youden_low=0.8, passed=True,
    scripted=False, fingerprint="f",
)  # fmt: skip
REASON = "not scored: the judge small accepts 52 of 52 right and 65 of 65 wrong answers (locomo/j_2025, zh)"
FAILS = replace(
    PASSES, language="zh", specificity=0.0, specificity_low=0.0, youden_low=-0.1, passed=False, reason=REASON
)


def score(metric: str = "j_2025", **more):
    return factories.score(metric=metric, **{"value": 0.5, **more})


def test_score_has_the_shares_of_its_judges_worst_prompt_and_language():
    [passed] = with_calibrations([score()], JUDGED, [PASSES])
    assert (passed.judge_sensitivity, passed.judge_specificity_low) == (0.96, 0.9)
    assert (passed.judge_calibration, passed.value) == (PASSED, 0.5)
    [failed] = with_calibrations(
        [score(value=None, reason="0 of 9 probes have a value")], JUDGED, [PASSES, FAILS]
    )
    assert (failed.judge_specificity, failed.reason) == (0.0, REASON)
    assert failed.judge_calibration == f"withheld: {REASON}"
    assert withheld_lines([failed, passed]) == [f"{failed.domain}: j_2025: {REASON}"]


def test_scores_without_a_judge_of_another_metric_and_of_another_judge_stay():
    plain = score("locomo_f1")
    assert with_calibrations([plain], JUDGED, [FAILS]) == [plain]
    strict = replace(PASSES, metric="j_strict", prompt="locomo/j_strict")
    other = replace(PASSES, judge="large")
    rows = [FAILS, strict, other]
    [of_strict] = with_calibrations([score("j_strict")], JUDGED, rows)
    [of_large] = with_calibrations([score(variant="judge_large")], JUDGED, rows)
    assert of_strict.judge_calibration == of_large.judge_calibration == PASSED


def test_judge_without_known_verdicts_is_named_and_one_on_a_scale_is_not():
    [unknown] = with_calibrations([score()], JUDGED, [])
    assert unknown.judge_calibration == NO_VERDICTS and unknown.value == 0.5
    assert len(withheld_lines([unknown])) == 1
    scale = replace(
        PASSES, cases=0, passed=None, youden_low=None, sensitivity=None, reason="no known answers"
    )
    [graded] = with_calibrations([score()], JUDGED, [scale])
    assert graded.judge_calibration == "not calibrated: no known answers"
    assert withheld_lines([graded]) == []


def test_passing_judge_with_verdicts_out_of_form_states_their_number():
    [odd] = with_calibrations([score()], JUDGED, [replace(PASSES, out_of_form=9)])
    assert odd.judge_calibration == "passed; 9 of 117 verdicts are out of form"


@pytest.mark.parametrize("text", [calibration.NOT_SCORED, REASON])
def test_reasons_of_withheld_verdicts_start_alike(text: str):
    assert text.startswith(NOT_SCORED)
