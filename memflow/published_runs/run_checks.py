"""Checks of published runs that need no model: claims beside values, and labels beside words."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from memflow.metrics.intervals import Interval
from memflow.published_runs.rescoring import PASSED, RUBRIC, WORD_F1, RescoredRun, Values, key, label_or_wrong
from memflow.published_runs.rows import Claim, PublishedAnswer
from memflow.scoring.catalog import ACCURACY
from memflow.scoring.estimate import NO_VALUE
from memflow.scoring.metric import Metric

MEAN_OF_RUNS = re.compile(r"^mean of (\w+) runs")
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}
_OURS = {"accuracy": ACCURACY.name, "rubric": RUBRIC.name, "rubric at least half": PASSED.name}
"""The metrics of claims that are scored again, and our names."""
HALF = 0.5
"""The label from which on an answer counts as correct."""
WHOLE_F1 = 1 - 1e-9
"""The F1 from which on an answer has the words of the gold answer and no others."""


@dataclass(frozen=True)
class ClaimCheck:
    """A claim beside the value that the committed rows give, with its interval; None where they give none."""

    run: RescoredRun
    claim: Claim
    value: Interval | None

    @property
    def is_equal(self) -> bool | None:
        """Whether the value rounds to the claim; None without a value."""
        if self.value is None or self.value.value is None:
            return None
        digits = -int(Decimal(str(self.claim.value)).as_tuple().exponent)
        return abs(self.value.value - self.claim.value) <= 0.5 * 10 ** -max(digits, 3) + 1e-9

    @property
    def is_outside(self) -> bool:
        """Whether the claim is outside the interval of the value."""
        return (
            self.value is not None
            and self.value.low is not None
            and self.value.high is not None
            and not self.value.low <= self.claim.value <= self.value.high
        )


def check_claims(runs: Sequence[RescoredRun]) -> list[ClaimCheck]:
    """Return the declared claims of runs beside what their rows give.

    A claim that is a mean of several runs is compared with the mean of the runs with this claim, if all are there.
    """
    checks = []
    for run in runs:
        for claim in run.claims:
            value = _claimed_value(run, claim)
            if stated := MEAN_OF_RUNS.search(claim.note):
                values = [_claimed_value(other, claim) for other in runs if claim in other.claims]
                known = [value.value for value in values if value is not None and value.value is not None]
                is_whole = len(known) == NUMBERS.get(stated[1], len(known))
                value = (
                    Interval(sum(known) / len(known), None, None, claim.note) if known and is_whole else None
                )
            checks.append(ClaimCheck(run, claim, value))
    return checks


def _claimed_value(run: RescoredRun, claim: Claim) -> Interval | None:
    """Return the value of a claim's metric over the scored questions, or over all if the claim counts all."""
    is_whole = claim.of == len(run.run.answers) and claim.of != len(run.answers)
    if (values := run.values.get(_OURS.get(claim.metric, ""))) and not is_whole:
        return values.interval()
    answers = [*run.answers.values()]
    is_of_all = is_whole or claim.metric.endswith("_recall")
    values = recorded_values([*run.run.answers] if is_of_all else answers, claim.metric)
    return values.interval() if values.by_question else None


def recorded_values(answers: Sequence[PublishedAnswer], metric: str) -> Values:
    """Return the values of a metric as the rows have it: recorded, or of votes and retrieved ids."""
    found = {key(answer): _recorded(answer, metric) for answer in answers}
    by_question = {name: value for name, value in found.items() if value is not None}
    declared = Metric(metric, metric, "higher")
    return Values(declared, by_question, {key(answer): answer.conversation for answer in answers})


def _recorded(answer: PublishedAnswer, metric: str) -> float | None:
    match metric:
        case "accuracy":
            return label_or_wrong(answer)
        case "mean of votes":
            return sum(answer.votes) / len(answer.votes) if answer.votes else None
        case "turn_recall":
            evidence = {*answer.recorded_evidence}
            return len(evidence & {*answer.messages}) / len(evidence) if evidence else None
    return answer.metrics.get(metric)


@dataclass(frozen=True)
class LabelCheck:
    """Labels beside the words of the answers, as counts: no judge is needed to see either.

    `equal_wrong` of the `equal` answers with exactly the words of the gold answer are labeled wrong. `common` is the
    most frequent answer without a word of it, with the number of times and the share that is labeled correct.
    """

    run: RescoredRun
    equal: int
    equal_wrong: int
    common: str
    commons: int
    common_right: Interval


def check_labels(run: RescoredRun) -> LabelCheck | None:
    """Return the check of a run's labels; None without labels or answers."""
    labels, f1 = run.values.get(ACCURACY.name), run.values.get(WORD_F1.name)
    if labels is None or f1 is None:
        return None
    both = {
        name: (labels.by_question[name], value)
        for name, value in f1.by_question.items()
        if name in labels.by_question
    }
    equal = [label for label, value in both.values() if value >= WHOLE_F1]
    foreign = [name for name, (_, value) in both.items() if value == 0]
    texts = {name: (run.answers[name].answer or "").strip(" .").casefold() for name in foreign}
    common, commons = next(iter(Counter(texts.values()).most_common(1)), ("", 0))
    return LabelCheck(
        run,
        len(equal),
        sum(label < HALF for label in equal),
        common,
        commons,
        labels.interval([name for name, text in texts.items() if text == common]) if commons else NO_VALUE,
    )
