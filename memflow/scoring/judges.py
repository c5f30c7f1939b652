"""Several judges: the mean over judges, the variant of each judge, and the band over judges of a score.

With several judges, a judged metric has a verdict per judge, as a variant such as `judge_NAME`; the primary verdict,
with the variant of a single judge, is their mean. The leaderboard has a score per variant, so also per judge.
judge_agreement.py compares the judges.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from memflow.records import Claim, Score, Verdict

STANDARD = "standard"
SELF_JUDGES = "self_judges"
"""The key of the metadata of verdicts that lists the judges whose model also answered, one a line."""
JUDGES = "judges"
"""The key of the metadata of verdicts and claims that lists the judges that judged them, one a line."""
Row = TypeVar("Row")
Judged = TypeVar("Judged", Claim, Verdict)
_OF_JUDGE = re.compile(r"(?:(?P<base>.+?)_)?judge_(?P<judge>.+)")


class JudgeVariant(NamedTuple):
    """The parts of a variant name: the variant without the judge, and the judge, or None for the mean over judges."""

    base: str
    judge: str | None


class JudgedValue(NamedTuple):
    """The value of a judged metric, or None with the reason for the missing value."""

    value: float | None
    reason: str | None = None


def judge_variant(base: str, judge: str) -> str:
    """Return the variant of one judge, such as `judge_NAME` for the variant `standard`."""
    return f"judge_{judge}" if base == STANDARD else f"{base}_judge_{judge}"


def parse_variant(variant: str) -> JudgeVariant:
    """Return the parts of a variant name: for `judge_NAME`, (`standard`, NAME); the judge is None without `judge_`."""
    match = _OF_JUDGE.fullmatch(variant)
    return JudgeVariant(match["base"] or STANDARD, match["judge"]) if match else JudgeVariant(variant, None)


def mean_of_judges(values: Mapping[str, JudgedValue]) -> JudgedValue:
    """Return the mean over judges. If a judge has no value, return None with the reasons of the judges."""
    scores = [row.value for row in values.values() if row.value is not None]
    if len(scores) == len(values):
        return JudgedValue(math.fsum(scores) / len(scores))
    reasons = {name: row.reason for name, row in values.items() if row.value is None}
    if len(reasons) == len(values) and len(set(reasons.values())) == 1:
        return JudgedValue(None, next(iter(reasons.values())))
    return JudgedValue(None, "; ".join(f"judge {name}: {reason}" for name, reason in reasons.items()))


def with_judge_columns(
    scores: Iterable[Score], judged_metrics: frozenset[str] = frozenset(), self_judges: Sequence[str] = ()
) -> list[Score]:
    """Return the scores of one assistant with the columns on judges.

    A mean over judges gets the lowest and the highest judge's score. A score of `judged_metrics` gets the names of its
    judges in `self_judges`, the judges whose model also wrote the answers.
    """
    scores = list(scores)
    values_of_judges: dict[tuple[str, str, str], list[float | None]] = {}
    for score in scores:
        base, judge = parse_variant(score.variant)
        if judge is not None:
            values_of_judges.setdefault((score.metric, base, score.slice), []).append(score.value)

    def with_columns(score: Score) -> Score:
        if self_judges and score.metric in judged_metrics:
            judge = parse_variant(score.variant).judge
            score = replace(score, self_judges=[name for name in self_judges if judge in (None, name)])
        values = values_of_judges.get((score.metric, score.variant, score.slice), [])
        known_values = [value for value in values if value is not None]
        if not values or len(known_values) < len(values):
            return score
        return replace(score, judge_low=min(known_values), judge_high=max(known_values))

    return [with_columns(score) for score in scores]


def average_judges(by_judge: Mapping[str, Sequence[Judged]], **blank: Any) -> list[Judged]:
    """Return each verdict or claim with the mean over judges, and if there are several then that of each judge.

    `blank` names further columns that the mean has no value for.
    """

    def mean_row(rows: Mapping[str, Judged]) -> Judged:
        value, reason = mean_of_judges(
            {name: JudgedValue(row.value, row.reason) for name, row in rows.items()}
        )
        first_row = next(iter(rows.values()))
        return replace(first_row, value=value, reason=reason, completion=None, **blank)

    return rows_of_judges(
        by_judge,
        is_judged=lambda row: True,
        combine=mean_row,
        of_judge=lambda row, judge: replace(row, variant=judge_variant(row.variant, judge)),
    )


def rows_of_judges(
    by_judge: Mapping[str, Sequence[Row]],
    is_judged: Callable[[Row], bool],
    combine: Callable[[Mapping[str, Row]], Row],
    of_judge: Callable[[Row, str], Row],
) -> list[Row]:
    """Return a combined row for each judged row, followed by the row of each judge. Other rows are returned once.

    `by_judge` has the same rows in the same order for each judge. The rows of a single judge are returned unchanged.
    """
    names = list(by_judge)
    if len(names) == 1:
        return list(by_judge[names[0]])
    judged_rows: list[Row] = []
    for rows in zip(*by_judge.values(), strict=True):
        if not is_judged(rows[0]):
            judged_rows.append(rows[0])
            continue
        judged_rows.append(combine(dict(zip(names, rows, strict=True))))
        judged_rows += [of_judge(row, name) for name, row in zip(names, rows, strict=True)]
    return judged_rows
