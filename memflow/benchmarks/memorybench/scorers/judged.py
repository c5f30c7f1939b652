"""Scorers that use only a judge's answer (A.1.1), for DialSim, HelloBench, WritingBench and NF-Cats."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from memflow.benchmarks.memorybench.question import full_question
from memflow.benchmarks.memorybench.scorers.answers import Checked
from memflow.benchmarks.memorybench.scorers.scorer import (
    PUBLISHED,
    STANDARD,
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    MetricValue,
    Scorer,
    ScoringContext,
    ask_judge,
    completion_digest,
    judged_value,
    wanted_variants,
)
from memflow.benchmarks.memorybench.tasks.catalog import ACCURACY, CHECKLIST, CRITERIA, QUALITY
from memflow.metrics.text import exact_match
from memflow.records import Probe


class AccuracyScorer(Scorer):
    """The scorer of DialSim: an answer is correct if it equals the gold or if a judge finds it equivalent.

    In `published_code`, the judge sees the full prompt as the question. The published code also counts an answer
    without a judgment as wrong; memflow does not.
    """

    stems = ("dialsim_judge",)
    judged = frozenset({ACCURACY})

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        return [(ACCURACY, variant) for variant in wanted_variants(context)]

    async def compute(self, answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
        if not exact_match(answered.answer, answered.probe.gold):
            return ComputedValues()
        return ComputedValues(
            [MetricValue(ACCURACY, 1.0, variant=variant) for variant in wanted_variants(context)]
        )

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        if computed.values:
            return []

        async def judge(variant: str) -> MetricValue:
            probe = answered.probe
            question = full_question(probe) if variant == PUBLISHED else probe.question
            fields = {"question": question, "gold": probe.gold, "answer": answered.answer}
            answer = await ask_judge(context, "dialsim_judge", fields)
            return judged_value(ACCURACY, answer, lambda judged: judged.correct, variant)

        return await asyncio.gather(*map(judge, wanted_variants(context)))


async def accurate(probe: Probe, answer: str, context: ScoringContext) -> MetricValue:
    """Return 1.0 for a correct DialSim answer, 0.0 for a wrong answer, or None with the reason."""
    scorer, answered = AccuracyScorer(), AnsweredProbe(probe, answer)
    computed = await scorer.compute(answered, context)
    return (computed.values or await scorer.judge(answered, context, computed))[0]


class ChecklistScorer(Scorer):
    """The scorer of HelloBench: the mean of a judge's scores on a checklist, from 0 (no) to 1 (yes) in quarters.

    In `published_code`, the judge sees the tokens of the answer joined by spaces: without line breaks, and with a space
    before punctuation.
    """

    stems = ("checklist",)
    judged = frozenset({CHECKLIST})

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        return [(CHECKLIST, variant) for variant in wanted_variants(context)]

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        questions = answered.gold("checklist")

        def complete(checked: Checked) -> str | None:
            if [item.number for item in checked.items] == list(range(1, len(questions) + 1)):
                return None
            return f"give one item for each of the questions 1 to {len(questions)}, in order"

        numbered = "\n".join(f"{number}. {question}" for number, question in enumerate(questions, start=1))

        async def score(variant: str) -> MetricValue:
            text = _joined_words(answered.answer) if variant == PUBLISHED else answered.answer
            fields = {"request": answered.probe.question, "answer": text, "checklist": numbered}
            return judged_value(
                CHECKLIST, await ask_judge(context, "checklist", fields, complete), _mean, variant
            )

        return await asyncio.gather(*map(score, wanted_variants(context)))


def _joined_words(text: str) -> str:
    from memflow.metrics.treebank import treebank_words  # noqa: PLC0415  (nltk takes a second to import)

    return " ".join(treebank_words(text))


def _mean(checked: Checked) -> float:
    return sum(item.score.value for item in checked.items) / len(checked.items)


class CriteriaScorer(Scorer):
    """The scorer of WritingBench: a judge's score from 1 to 10 by the question's criteria.

    `standard` averages one request per criterion, as WritingBench does. `published_code`, as MemoryBench does, sends
    one request for all criteria.
    """

    stems = ("criterion",)
    published_stems = ("criteria",)
    judged = frozenset({CRITERIA})

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        return [(CRITERIA, variant) for variant in wanted_variants(context)]

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        ways = {STANDARD: _by_criterion, PUBLISHED: _by_all_criteria}
        return await asyncio.gather(
            *(ways[variant](answered, context) for variant in wanted_variants(context))
        )


async def _by_criterion(answered: AnsweredProbe, context: ScoringContext) -> MetricValue:
    criteria = answered.gold("criteria")
    answers = await asyncio.gather(
        *(ask_judge(context, "criterion", _criteria_fields(answered, [each])) for each in criteria)
    )
    failed = [
        f"{each['name']}: {answer.reason}"
        for each, answer in zip(criteria, answers, strict=True)
        if answer.value is None
    ]
    if failed:
        return MetricValue(CRITERIA, None, "; ".join(failed))
    scores = [answer.value.score for answer in answers if answer.value is not None]
    completion = completion_digest(answers[0]) if len(answers) == 1 else None
    return MetricValue(CRITERIA, sum(scores) / len(scores), completion=completion)


async def _by_all_criteria(answered: AnsweredProbe, context: ScoringContext) -> MetricValue:
    fields = _criteria_fields(answered, answered.gold("criteria"))
    answer = await ask_judge(context, "criteria", fields)
    return judged_value(CRITERIA, answer, lambda graded: graded.score, PUBLISHED)


def _criteria_fields(answered: AnsweredProbe, criteria: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    texts = []
    for each in criteria:
        levels = [f"{scores}: {text}" for scores, text in each.get("levels", {}).items()]
        texts.append("\n".join([f"{each['name']}: {each['description']}", *levels]))
    return {"request": answered.probe.question, "answer": answered.answer, "criteria": "\n\n".join(texts)}


class QualityScorer(Scorer):
    """The scorer of NF-Cats: a judge's score from 1 to 5 for how far an answer solves its question (after NTCIR-18).

    In `published_code`, the judge sees the full prompt. The published code also accepts scores of 6 to 10 and uses 1 if
    the score is missing; memflow does neither.
    """

    stems = ("quality",)
    judged = frozenset({QUALITY})

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        return [(QUALITY, variant) for variant in wanted_variants(context)]

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        async def score(variant: str) -> MetricValue:
            probe = answered.probe
            question = full_question(probe) if variant == PUBLISHED else probe.question
            answer = await ask_judge(context, "quality", {"question": question, "answer": answered.answer})
            return judged_value(QUALITY, answer, lambda scored: scored.score, variant)

        return await asyncio.gather(*map(score, wanted_variants(context)))
