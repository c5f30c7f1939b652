"""The calibration of the judges behind a score: its columns, and the reason of a score that is withheld.

The verdicts of a judge that failed have no values (memflow/judges/withheld.py), so the scores have none either.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memflow.records import Calibration, Score
from memflow.scoring.judges import parse_variant

CALIBRATED = "calibrations"
"""The metadata key of verdicts with the content hash of the calibrations of their judges."""
NOT_SCORED = "not scored: the judge "
"""The start of the reason of a verdict whose judge failed its calibration."""
PASSED, WITHHELD, UNCALIBRATED = "passed", "withheld", "not calibrated"
NO_VERDICTS = f"{UNCALIBRATED}: its judge gave no verdicts on known answers, or they are not known"


def with_calibrations(
    scores: Iterable[Score], judged_metrics: frozenset[str], calibrations: Sequence[Calibration]
) -> list[Score]:
    """Return the scores of one assistant with the columns on the calibration of their judges."""
    calibrated_metrics = {row.metric for row in calibrations}

    def with_columns(score: Score) -> Score:
        """Return a judged score with the calibrations of its judges: all judges for a mean over judges."""
        metric = score.metric.partition("[")[0]  # without the metric's backend
        if metric not in judged_metrics:
            return score
        judge = parse_variant(score.variant).judge
        rows = [row for row in calibrations if judge in (None, row.judge)]
        if metric in calibrated_metrics:  # otherwise all judge prompts count
            rows = [row for row in rows if row.metric == metric]
        return _with_calibration(score, rows)

    return [with_columns(score) for score in scores]


def _with_calibration(score: Score, rows: Sequence[Calibration]) -> Score:
    """Return the score with the columns of its worst calibration: a failed one, or the lowest Youden index."""
    if not rows:  # the scripted chat is a rule, and its scores are labeled
        return score if score.scripted else replace(score, judge_calibration=NO_VERDICTS)
    calibration = min(
        rows, key=lambda row: (row.passed is None, -1.0 if row.youden_low is None else row.youden_low)
    )
    columns = {
        f"judge_{rate}{suffix}": getattr(calibration, f"{rate}{suffix}")
        for rate in ("sensitivity", "specificity")
        for suffix in ("", "_low", "_high")
    }
    if calibration.passed is False:
        reason = calibration.reason if score.value is None else score.reason
        return replace(score, **columns, judge_calibration=f"{WITHHELD}: {calibration.reason}", reason=reason)
    missing_reason = next((row.reason for row in rows if row.passed is None), None)
    if missing_reason is not None:
        return replace(score, **columns, judge_calibration=f"{UNCALIBRATED}: {missing_reason}")
    malformed = (
        f"; {calibration.out_of_form} of {calibration.cases} verdicts are out of form"
        if calibration.out_of_form
        else ""
    )
    return replace(score, **columns, judge_calibration=f"{PASSED}{malformed}")


def withheld_lines(scores: Iterable[Score]) -> list[str]:
    """Return a line for each metric of a domain whose judge failed its calibration, or has none."""
    overall_scores = [
        score for score in scores if score.slice == "all" and parse_variant(score.variant).judge is None
    ]
    texts = [(score, score.judge_calibration or "") for score in overall_scores]
    return [
        *dict.fromkeys(
            f"{score.domain}: {score.metric}: {text.partition(': ')[2]}"
            for score, text in texts
            if text.startswith((WITHHELD, NO_VERDICTS))
        )
    ]
