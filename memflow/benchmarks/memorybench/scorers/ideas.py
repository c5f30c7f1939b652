"""IdeaBench: up to three hypotheses against the idea of the real paper, merged by a judge (A.1.1, A.1.2).

A judge rates the hypothesis with the best BERTScore, and ranks all hypotheses and the real abstract by novelty and by
feasibility. A rank score is the share of three hypotheses above the abstract. The abstract's position varies in
`standard` and is first in `published_code`. Without an encoder, ROUGE-L selects (variant `without_bertscore`).
"""

import asyncio
import re
from collections.abc import Sequence

from memflow.benchmarks.memorybench.scorers.answers import LABELS, Ranking
from memflow.benchmarks.memorybench.scorers.merged import (
    format_value,
    keys_with_missing,
    merge,
    missing_backend_values,
    variant_name,
)
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
    judged_value,
    parse_list_reply,
    wanted_variants,
)
from memflow.benchmarks.memorybench.tasks.catalog import INTEGRATED
from memflow.fingerprint import seeded
from memflow.metrics.backends import ENCODER_EN
from memflow.metrics.bertscore import BERTSCORE, bertscores, metric_name
from memflow.metrics.text import rouge_l
from memflow.records import Probe

MAX_HYPOTHESES = 3
"""Hypotheses used; further ones are ignored."""
LLM_RATING = "llm_rating"
RANKS = {"novelty_rank": "idea_novelty", "feasibility_rank": "idea_feasibility"}
"""Prompt of each ranking."""
_APART = re.compile(r"[-*_#\s]*IDEA[-_ ]SEPARATOR[-*_#\s]*", re.IGNORECASE)


def _missing_backends(context: ScoringContext) -> list[str]:
    return [] if "en" in context.backends.encoders else [BERTSCORE]


class IdeaScorer(Scorer):
    """The scorer of IdeaBench, which compares generated hypotheses with the idea of the real paper."""

    stems = ("idea_rating", *RANKS.values(), "merge_idea")
    judged = frozenset({INTEGRATED, LLM_RATING, *RANKS})
    backends = frozenset({ENCODER_EN})

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        missing, bases = _missing_backends(context), wanted_variants(context)
        return [
            *keys_with_missing(INTEGRATED, bases, missing),
            (metric_name(context.backends.encoders.get("en")), STANDARD),
            *keys_with_missing(LLM_RATING, [STANDARD], missing),
            *((rank, base) for rank in RANKS for base in bases),
        ]

    async def compute(self, answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
        said, gold = hypotheses(answered.answer), answered.gold("abstract")
        encoder = context.backends.encoders.get("en")
        if not said:
            return ComputedValues([MetricValue(metric_name(encoder), None, "the reply holds no hypothesis")])
        scores = await bertscores(encoder, [(one, gold) for one in said])
        values = [score.value for score in scores if score.value is not None] or [
            rouge_l(one, gold) for one in said
        ]
        best = max(range(len(said)), key=lambda place: values[place])
        return ComputedValues([MetricValue(metric_name(encoder), *scores[best])], said[best])

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        if not computed.shown:
            reason = "the reply holds no hypothesis"
            return [
                MetricValue(name, None, reason, base)
                for name, base in self.metric_keys(answered.probe, context)
            ]
        missing, bases = _missing_backends(context), wanted_variants(context)
        rating, *ranks = await asyncio.gather(
            _rate(answered, context, computed.shown, variant_name(STANDARD, missing)),
            *(_rank(answered, context, name, base) for name in RANKS for base in bases),
        )
        merged = await asyncio.gather(
            *(
                _merge(
                    answered,
                    context,
                    computed,
                    rating,
                    [rank for rank in ranks if rank.variant == base],
                    base,
                )
                for base in bases
            )
        )
        missing_values = [
            value for name in (INTEGRATED, LLM_RATING) for value in missing_backend_values(name, missing)
        ]
        return [*missing_values, *merged, rating, *ranks]


def hypotheses(answer: str) -> list[str]:
    """Return the first three hypotheses of a reply, which is JSON or has the published separators."""
    found = parse_list_reply(answer, "hypotheses") or _APART.split(answer)
    return [part.strip() for part in found if part.strip()][:MAX_HYPOTHESES]


async def _rate(answered: AnsweredProbe, context: ScoringContext, best: str, named: str) -> MetricValue:
    answer = await ask_judge(
        context, "idea_rating", {"hypothesis": best, "abstract": answered.gold("abstract")}
    )
    return judged_value(LLM_RATING, answer, lambda scored: scored.score, named)


async def _rank(answered: AnsweredProbe, context: ScoringContext, name: str, base: str) -> MetricValue:
    texts = hypotheses(answered.answer)
    place = 0 if base == PUBLISHED else _place(answered, context, name, len(texts) + 1)
    texts.insert(place, answered.gold("abstract"))
    labels = LABELS[: len(texts)]

    def complete(ranking: Ranking) -> str | None:
        return (
            None
            if sorted(ranking.order) == list(labels)
            else f"order is to hold each of {', '.join(labels)} once"
        )

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


async def _merge(
    answered: AnsweredProbe,
    context: ScoringContext,
    computed: ComputedValues,
    rating: MetricValue,
    ranks: Sequence[MetricValue],
    base: str,
) -> MetricValue:
    measures = [*computed.values, rating, *ranks]
    fields = {
        "background": answered.probe.question,
        "answer": computed.shown,
        "gold": "\n".join((answered.gold("title"), answered.gold("abstract"))),
        **{measure.metric.partition("[")[0]: format_value(measure) for measure in measures},
    }
    failed = [each for each in (rating, *ranks) if each.value is None]
    return await merge(context, "merge_idea", fields, variant_name(base, _missing_backends(context)), failed)
