"""SciTechNews: a popular article beside the published summary, and how easily it reads; merged by a judge (A.1.1,
A.1.2). ROUGE-L here is the published one, which is ROUGE-L.
"""

from collections.abc import Sequence

from memflow.benchmarks.memorybench.scorers.integrated import (
    lacking_mark,
    lacking_rows,
    merge,
    shown,
    variant,
)
from memflow.benchmarks.memorybench.scorers.metric import STANDARD, Answered, Computed, Mark, Means, Row
from memflow.benchmarks.memorybench.tasks.catalogue import INTEGRATED, ROUGE_L
from memflow.metrics.backends import CMUDICT, ENCODER_EN
from memflow.metrics.bertscore import BERTSCORE, bertscores, metric_name
from memflow.metrics.readability import CLI, DCRS, FKGL, coleman_liau, dale_chall, flesch_kincaid
from memflow.metrics.text import rouge_l
from memflow.records import Probe


def _lacking(means: Means) -> list[str]:
    there = {BERTSCORE: "en" in means.instruments.encoders, FKGL: means.instruments.syllables is not None}
    return [name for name, given in there.items() if not given]


def rows(probe: Probe, means: Means) -> list[Row]:
    names = (ROUGE_L, metric_name(means.instruments.encoders.get("en")), CLI, FKGL, DCRS)
    return [
        *lacking_rows(INTEGRATED, [STANDARD], _lacking(means)),
        *((name, STANDARD) for name in names),
    ]


async def computed(answered: Answered, means: Means) -> Computed:
    answer, gold = answered.answer, answered.gold("pr_summary")
    encoder = means.instruments.encoders.get("en")
    [likeness] = await bertscores(encoder, [(answer, gold)])
    scores = {
        metric_name(encoder): likeness,
        CLI: coleman_liau(answer),
        FKGL: flesch_kincaid(answer, means.instruments.syllables),
        DCRS: dale_chall(answer),
    }
    return Computed(
        [Mark(ROUGE_L, rouge_l(answer, gold)), *(Mark(name, *score) for name, score in scores.items())]
    )


async def judge(answered: Answered, means: Means, computed: Computed) -> Sequence[Mark]:
    lacking = _lacking(means)
    fields = {
        "source": answered.probe.question,
        "answer": answered.answer,
        "gold": answered.gold("pr_summary"),
        **{mark.metric.partition("[")[0]: shown(mark) for mark in computed.marks},
    }
    merged = await merge(means, "merge_article", fields, variant(STANDARD, lacking))
    return [*lacking_mark(INTEGRATED, lacking), merged]


def prompts(published: bool) -> list[str]:
    return ["merge_article"]


def needs(metric: str) -> frozenset[str]:
    return frozenset({ENCODER_EN, CMUDICT})
