"""Scorers that use only a judge's answer (A.1.1), for DialSim, HelloBench, WritingBench and NF-Cats."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from memflow.benchmarks.memorybench.question import full_question
from memflow.benchmarks.memorybench.scorers.answers import Checked
from memflow.benchmarks.memorybench.scorers.scorer import (
    PUBLISHED,
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    Scorer,
    ScoringContext,
    ask_judge,
    wanted_variants,
)
from memflow.benchmarks.memorybench.tasks.catalog import ACCURACY, CHECKLIST, CRITERIA, QUALITY
from memflow.benchmarks.verdicts import MetricValue
from memflow.metrics.text import exact_match
from memflow.records import Probe


class JudgeRequest(NamedTuple):
    """A request to the judge. `name` precedes the reason of a failure if there are several requests."""

    stem: str
    fields: Mapping[str, Any]
    check: Callable[[Any], str | None] | None = None
    name: str = ""


class JudgedScorer(Scorer):
    """The base class of these scorers: the value of a variant is the mean over its requests."""

    metric: ClassVar[str]

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        return [(self.metric, variant) for variant in wanted_variants(context)]

    @abstractmethod
    def requests(self, answered: AnsweredProbe, variant: str) -> list[JudgeRequest]:
        """Return the requests that decide a variant."""

    def read(self, value: Any) -> float:
        """Return the score in a judge's answer."""
        return float(value.score)

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        if computed.values:
            return []
        variants = wanted_variants(context)
        return await asyncio.gather(*(self._value(answered, context, variant) for variant in variants))

    async def _value(self, answered: AnsweredProbe, context: ScoringContext, variant: str) -> MetricValue:
        requests = self.requests(answered, variant)
        answers = await asyncio.gather(
            *(ask_judge(context, request.stem, request.fields, request.check) for request in requests)
        )
        failed = [
            f"{request.name}: {answer.reason}" if request.name else str(answer.reason)
            for request, answer in zip(requests, answers, strict=True)
            if answer.value is None
        ]
        completion = answers[0].digest if len(answers) == 1 else None
        if failed:
            return MetricValue(self.metric, None, "; ".join(failed), variant, completion)
        value = sum(self.read(answer.value) for answer in answers) / len(answers)
        return MetricValue(self.metric, value, None, variant, completion)


class AccuracyScorer(JudgedScorer):
    """The scorer of DialSim: an answer is correct if it equals the gold or if a judge finds it equivalent.

    In `published_code`, the judge sees the full prompt as the question. The published code also counts an answer
    without a judgment as wrong; memflow does not.
    """

    metric = ACCURACY
    stems = ("dialsim_judge",)
    judged = frozenset({ACCURACY})

    async def compute(self, answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
        if not exact_match(answered.answer, answered.probe.gold):
            return ComputedValues()
        return ComputedValues(
            [MetricValue(ACCURACY, 1.0, variant=variant) for variant in wanted_variants(context)]
        )

    def requests(self, answered: AnsweredProbe, variant: str) -> list[JudgeRequest]:
        fields = {"gold": answered.probe.gold, "answer": answered.answer}
        return [JudgeRequest("dialsim_judge", {"question": _question(answered.probe, variant), **fields})]

    def read(self, value: Any) -> float:
        return float(value.correct)


async def accurate(probe: Probe, answer: str, context: ScoringContext) -> MetricValue:
    """Return 1.0 for a correct DialSim answer, 0.0 for a wrong answer, or None with the reason."""
    scorer, answered = AccuracyScorer(), AnsweredProbe(probe, answer)
    computed = await scorer.compute(answered, context)
    return (computed.values or await scorer.judge(answered, context, computed))[0]


class ChecklistScorer(JudgedScorer):
    """The scorer of HelloBench: the mean of a judge's scores on a checklist, from 0 (no) to 1 (yes) in quarters.

    In `published_code`, the judge sees the tokens of the answer joined by spaces: without line breaks, and with a space
    before punctuation.
    """

    metric = CHECKLIST
    stems = ("checklist",)
    judged = frozenset({CHECKLIST})

    def requests(self, answered: AnsweredProbe, variant: str) -> list[JudgeRequest]:
        questions = answered.gold("checklist")

        def complete(checked: Checked) -> str | None:
            if [item.number for item in checked.items] == list(range(1, len(questions) + 1)):
                return None
            return f"give one item for each of the questions 1 to {len(questions)}, in order"

        fields = {
            "request": answered.probe.question,
            "answer": _joined_words(answered.answer) if variant == PUBLISHED else answered.answer,
            "checklist": "\n".join(f"{number}. {text}" for number, text in enumerate(questions, start=1)),
        }
        return [JudgeRequest("checklist", fields, complete)]

    def read(self, value: Checked) -> float:
        return sum(item.score.value for item in value.items) / len(value.items)


class CriteriaScorer(JudgedScorer):
    """The scorer of WritingBench: a judge's score from 1 to 10 by the question's criteria.

    `standard` averages one request per criterion, as WritingBench does. `published_code`, as MemoryBench does, sends
    one request for all criteria.
    """

    metric = CRITERIA
    stems = ("criterion",)
    published_stems = ("criteria",)
    judged = frozenset({CRITERIA})

    def requests(self, answered: AnsweredProbe, variant: str) -> list[JudgeRequest]:
        fields = {"request": answered.probe.question, "answer": answered.answer}
        texts = [(each["name"], _criterion_text(each)) for each in answered.gold("criteria")]
        if variant == PUBLISHED:
            together = "\n\n".join(text for _, text in texts)
            return [JudgeRequest("criteria", {**fields, "criteria": together})]
        return [JudgeRequest("criterion", {**fields, "criteria": text}, name=name) for name, text in texts]


class QualityScorer(JudgedScorer):
    """The scorer of NF-Cats: a judge's score from 1 to 5 for how far an answer solves its question (after NTCIR-18).

    In `published_code`, the judge sees the full prompt. The published code also accepts scores of 6 to 10 and uses 1 if
    the score is missing; memflow does neither.
    """

    metric = QUALITY
    stems = ("quality",)
    judged = frozenset({QUALITY})

    def requests(self, answered: AnsweredProbe, variant: str) -> list[JudgeRequest]:
        fields = {"question": _question(answered.probe, variant), "answer": answered.answer}
        return [JudgeRequest("quality", fields)]


def _question(probe: Probe, variant: str) -> str:
    return full_question(probe) if variant == PUBLISHED else probe.question


def _criterion_text(criterion: Mapping[str, Any]) -> str:
    levels = [f"{scores}: {text}" for scores, text in criterion.get("levels", {}).items()]
    return "\n".join([f"{criterion['name']}: {criterion['description']}", *levels])


def _joined_words(text: str) -> str:
    from memflow.metrics.treebank import treebank_words  # noqa: PLC0415  (nltk takes a second to import)

    return " ".join(treebank_words(text))
