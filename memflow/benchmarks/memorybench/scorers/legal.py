"""JuDGE: a judgment beside the court's, in ten measures, merged by a judge (A.1.1, A.1.2).

`published_code` reads the documents as the published evaluation does, slips included (metrics/legal), and shows the
judge the prison term's value in the place of every measure, as that code's merging has it.
"""

from collections.abc import Sequence
from typing import Literal

from memflow.benchmarks.memorybench.scorers.integrated import (
    lacking_mark,
    lacking_rows,
    merge,
    shown,
    variant,
)
from memflow.benchmarks.memorybench.scorers.metric import (
    PUBLISHED,
    STANDARD,
    Answered,
    Computed,
    Mark,
    Means,
    Row,
    variants,
)
from memflow.benchmarks.memorybench.tasks.catalogue import INTEGRATED, METEOR
from memflow.metrics.backends import ENCODER_ZH
from memflow.metrics.bertscore import BERTSCORE, bertscores, metric_name
from memflow.metrics.legal.measures import comparable_passages, judgment_scores
from memflow.metrics.meteor import meteor
from memflow.metrics.result import MetricResult
from memflow.records import Probe

SECTIONS = ("reasoning", "judgment")
MEASURES = ("charge_recall", "charge_precision", "statute_recall", "statute_precision", "time", "fine")
_READINGS: dict[str, Literal["standard", "published_code"]] = {
    STANDARD: "standard",
    PUBLISHED: "published_code",
}


def _lacking(means: Means) -> list[str]:
    return [] if "zh" in means.instruments.encoders else [BERTSCORE]


def rows(probe: Probe, means: Means) -> list[Row]:
    named = (METEOR, metric_name(means.instruments.encoders.get("zh")))
    measured = [*(f"{section}_{name}" for name in named for section in SECTIONS), *MEASURES]
    return [
        *lacking_rows(INTEGRATED, [STANDARD], _lacking(means)),
        *([(INTEGRATED, PUBLISHED)] if means.published else []),
        *((name, base) for base in variants(means) for name in measured),
    ]


async def computed(answered: Answered, means: Means) -> Computed:
    return Computed([mark for base in variants(means) for mark in await _measured(answered, means, base)])


async def _measured(answered: Answered, means: Means, base: str) -> list[Mark]:
    answer, gold, reading = answered.answer, answered.probe.gold, _READINGS[base]
    encoder = means.instruments.encoders.get("zh")
    marks = []
    for section, texts in comparable_passages(answer, gold, reading).items():
        if isinstance(texts, MetricResult):
            words = meaning = texts
        else:
            words = MetricResult(meteor(*texts, "zh", reading))
            [meaning] = await bertscores(encoder, [texts], "zh")
        for name, score in ((METEOR, words), (metric_name(encoder), meaning)):
            marks.append(Mark(f"{section}_{name}", score.value, score.reason, base))
    found = judgment_scores(answer, gold, reading)
    return [*marks, *(Mark(name, *found[name], base) for name in MEASURES)]


async def judge(answered: Answered, means: Means, computed: Computed) -> Sequence[Mark]:
    lacking = _lacking(means)
    told = {base: _told(computed.marks, base) for base in variants(means)}
    marks = lacking_mark(INTEGRATED, lacking)
    marks.append(await _merge(answered, means, told[STANDARD], variant(STANDARD, lacking)))
    if means.published:
        term = next(mark for mark in computed.marks if mark.row == ("time", PUBLISHED))
        if term.value is None:
            marks.append(
                Mark(
                    INTEGRATED, None, f"time, which is all that is shown, has none: {term.reason}", PUBLISHED
                )
            )
        else:
            everywhere = dict.fromkeys(told[PUBLISHED], shown(term))
            marks.append(await _merge(answered, means, everywhere, PUBLISHED))
    return marks


async def _merge(answered: Answered, means: Means, told: dict[str, str], named: str) -> Mark:
    texts = {"facts": answered.probe.question, "answer": answered.answer, "gold": answered.probe.gold}
    return await merge(means, "merge_judgment", {**texts, **told}, named)


def _told(marks: Sequence[Mark], base: str) -> dict[str, str]:
    return {mark.metric.partition("[")[0]: shown(mark) for mark in marks if mark.variant == base}


def prompts(published: bool) -> list[str]:
    return ["merge_judgment"]


def needs(metric: str) -> frozenset[str]:
    return frozenset({ENCODER_ZH})
