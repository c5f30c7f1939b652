"""IdeaBench: up to three hypotheses against the idea of the real paper, merged by a judge (A.1.1, A.1.2).

A judge rates the hypothesis with the best BERTScore, and ranks all hypotheses and the real abstract by novelty and by
feasibility. A rank score is the share of three hypotheses above the abstract. The abstract's position varies in
`standard` and is first in `published_code`. Without an encoder, ROUGE-L selects (variant `without_bertscore`).
"""

import asyncio
import re
from collections.abc import Sequence

from memflow.benchmarks.memorybench.scorers.answers import LABELS, Ranking
from memflow.benchmarks.memorybench.scorers.merged import MergedScorer
from memflow.benchmarks.memorybench.scorers.scorer import (
    PUBLISHED,
    AnsweredProbe,
    ComputedValues,
    MetricKey,
    ScoringContext,
    ask_judge,
    judged_value,
    parse_list_reply,
    variant_name,
    wanted_variants,
)
from memflow.benchmarks.memorybench.tasks.catalog import INTEGRATED
from memflow.benchmarks.verdicts import MetricValue
from memflow.fingerprint import seeded
from memflow.metrics.backends import ENCODER_EN
from memflow.metrics.bertscore import BERTSCORE, bertscores, metric_name
from memflow.metrics.text import rouge_l
from memflow.records import Probe
from memflow.scoring.judges import STANDARD

MAX_HYPOTHESES = 3
"""Hypotheses used; further ones are ignored."""
NO_HYPOTHESIS = "the reply holds no hypothesis"
LLM_RATING = "llm_rating"
RANKS = {"novelty_rank": "idea_novelty", "feasibility_rank": "idea_feasibility"}
"""Prompt of each ranking."""
_APART = re.compile(r"[-*_#\s]*IDEA[-_ ]SEPARATOR[-*_#\s]*", re.IGNORECASE)


class IdeaScorer(MergedScorer):
    """The scorer of IdeaBench, which compares generated hypotheses with the idea of the real paper."""

    merge_stem = "merge_idea"
    stems = ("idea_rating", *RANKS.values(), "merge_idea")
    judged = frozenset({INTEGRATED, LLM_RATING, *RANKS})
    backends = frozenset({ENCODER_EN})

    def missing(self, context: ScoringContext) -> list[str]:
        return [] if "en" in context.backends.encoders else [BERTSCORE]

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        bases = wanted_variants(context)
        return [
            *self.keys_with_missing(INTEGRATED, bases, context),
            (metric_name(context.backends.encoders.get("en")), STANDARD),
            *self.keys_with_missing(LLM_RATING, [STANDARD], context),
            *((rank, base) for rank in RANKS for base in bases),
        ]

    async def compute(self, answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
        said, gold = hypotheses(answered.answer), answered.gold("abstract")
        encoder = context.backends.encoders.get("en")
        if not said:
            return ComputedValues([MetricValue(metric_name(encoder), None, NO_HYPOTHESIS)])
        scores = await bertscores(encoder, [(text, gold) for text in said])
        values = [score.value for score in scores if score.value is not None] or [
            rouge_l(text, gold) for text in said
        ]
        best = max(range(len(said)), key=lambda place: values[place])
        return ComputedValues([MetricValue(metric_name(encoder), *scores[best])], said[best])

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        if not computed.shown:
            keys = self.metric_keys(answered.probe, context)
            return [MetricValue(name, None, NO_HYPOTHESIS, variant) for name, variant in keys]
        missing, bases = self.missing(context), wanted_variants(context)
        rating, *ranks = await asyncio.gather(
            _rate(answered, context, computed.shown, variant_name(STANDARD, missing)),
            *(_rank(answered, context, name, base) for name in RANKS for base in bases),
        )
        texts = {
            "background": answered.probe.question,
            "answer": computed.shown,
            "gold": "\n".join((answered.gold("title"), answered.gold("abstract"))),
        }
        measures = {
            base: [*computed.values, rating, *(rank for rank in ranks if rank.variant == base)]
            for base in bases
        }
        merged = await asyncio.gather(
            *(self.merge(context, texts, measures[base], variant_name(base, missing)) for base in bases)
        )
        return [*merged, rating, *ranks]


def hypotheses(answer: str) -> list[str]:
    """Return the first three hypotheses of a reply, which is JSON or has the published separators."""
    found = parse_list_reply(answer, "hypotheses") or _APART.split(answer)
    return [part.strip() for part in found if part.strip()][:MAX_HYPOTHESES]


async def _rate(answered: AnsweredProbe, context: ScoringContext, best: str, variant: str) -> MetricValue:
    fields = {"hypothesis": best, "abstract": answered.gold("abstract")}
    answer = await ask_judge(context, "idea_rating", fields)
    return judged_value(LLM_RATING, answer, lambda scored: scored.score, variant)


async def _rank(answered: AnsweredProbe, context: ScoringContext, name: str, base: str) -> MetricValue:
    texts = hypotheses(answered.answer)
    place = 0 if base == PUBLISHED else _place(answered, context, name, len(texts) + 1)
    texts.insert(place, answered.gold("abstract"))
    labels = LABELS[: len(texts)]

    def complete(ranking: Ranking) -> str | None:
        is_complete = sorted(ranking.order) == list(labels)
        return None if is_complete else f"order is to hold each of {', '.join(labels)} once"

    fields = {
        "background": answered.probe.question,
        "ideas": list(zip(labels, texts, strict=True)),
        "labels": ", ".join(labels),
    }
    answer = await ask_judge(context, RANKS[name], fields, complete)
    return judged_value(
        name, answer, lambda ranking: ranking.order.index(labels[place]) / MAX_HYPOTHESES, base
    )


def _place(answered: AnsweredProbe, context: ScoringContext, name: str, among: int) -> int:
    first = seeded(context.seed, "the place of the real idea")
    return (first + answered.place + (0 if name == "novelty_rank" else among // 2)) % among
