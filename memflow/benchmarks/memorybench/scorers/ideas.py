"""IdeaBench: up to three hypotheses beside the idea that a real paper had from the same references, merged by a judge
(A.1.1, A.1.2).

The best hypothesis is the one with the highest BERTScore beside the real abstract; a judge rates what the two have in
common. For novelty and for feasibility a judge ranks all hypotheses and the real abstract among them; the score is the
share of three hypotheses that come before the real one, so that one not given counts as behind it.

In `standard`, the real abstract's place in the list moves on from case to case, from a seeded first, and is another for
feasibility than for novelty, so that a judge's liking for a place evens out; in `published_code` it is always first.
Without an encoder the best hypothesis is the one with the highest ROUGE-L: what is said of it is `without_bertscore`.
"""

import asyncio
import re
from collections.abc import Sequence

from memflow.benchmarks.memorybench.scorers.answers import LABELS, Ranking
from memflow.benchmarks.memorybench.scorers.integrated import (
    lacking_mark,
    lacking_rows,
    merge,
    shown,
    variant,
)
from memflow.benchmarks.memorybench.scorers.listed import listed
from memflow.benchmarks.memorybench.scorers.metric import (
    PUBLISHED,
    STANDARD,
    Answered,
    Computed,
    Mark,
    Means,
    Row,
    ask_judge,
    mark,
    variants,
)
from memflow.benchmarks.memorybench.tasks.catalogue import INTEGRATED
from memflow.fingerprint import seeded
from memflow.metrics.backends import ENCODER_EN
from memflow.metrics.bertscore import BERTSCORE, bertscores, metric_name
from memflow.metrics.text import rouge_l
from memflow.records import Probe

MOST = 3
"""Hypotheses that are asked for; those after them are passed over."""
LLM_RATING = "llm_rating"
RANKS = {"novelty_rank": "idea_novelty", "feasibility_rank": "idea_feasibility"}
"""The prompt of each ranking."""
_APART = re.compile(r"[-*_#\s]*IDEA[-_ ]SEPARATOR[-*_#\s]*", re.IGNORECASE)


def _lacking(means: Means) -> list[str]:
    return [] if "en" in means.instruments.encoders else [BERTSCORE]


def rows(probe: Probe, means: Means) -> list[Row]:
    lacking, bases = _lacking(means), variants(means)
    return [
        *lacking_rows(INTEGRATED, bases, lacking),
        (metric_name(means.instruments.encoders.get("en")), STANDARD),
        *lacking_rows(LLM_RATING, [STANDARD], lacking),
        *((rank, base) for rank in RANKS for base in bases),
    ]


def hypotheses(answer: str) -> list[str]:
    """The first three hypotheses of a reply: of its JSON, or else those that stand apart as published replies do."""
    found = listed(answer, "hypotheses") or _APART.split(answer)
    return [part.strip() for part in found if part.strip()][:MOST]


async def computed(answered: Answered, means: Means) -> Computed:
    said, gold = hypotheses(answered.answer), answered.gold("abstract")
    encoder = means.instruments.encoders.get("en")
    if not said:
        return Computed([Mark(metric_name(encoder), None, "the reply holds no hypothesis")])
    scores = await bertscores(encoder, [(one, gold) for one in said])
    values = [score.value for score in scores if score.value is not None] or [
        rouge_l(one, gold) for one in said
    ]
    best = max(range(len(said)), key=lambda place: values[place])
    return Computed([Mark(metric_name(encoder), *scores[best])], said[best])


async def judge(answered: Answered, means: Means, computed: Computed) -> Sequence[Mark]:
    if not computed.shown:
        reason = "the reply holds no hypothesis"
        return [Mark(name, None, reason, base) for name, base in rows(answered.probe, means)]
    lacking, bases = _lacking(means), variants(means)
    rating, *ranks = await asyncio.gather(
        _rate(answered, means, computed.shown, variant(STANDARD, lacking)),
        *(_rank(answered, means, name, base) for name in RANKS for base in bases),
    )
    merged = await asyncio.gather(
        *(
            _merge(answered, means, computed, rating, [each for each in ranks if each.variant == base], base)
            for base in bases
        )
    )
    told = [each for name in (INTEGRATED, LLM_RATING) for each in lacking_mark(name, lacking)]
    return [*told, *merged, rating, *ranks]


async def _rate(answered: Answered, means: Means, best: str, named: str) -> Mark:
    answer = await ask_judge(
        means, "idea_rating", {"hypothesis": best, "abstract": answered.gold("abstract")}
    )
    return mark(LLM_RATING, answer, lambda scored: scored.score, named)


async def _rank(answered: Answered, means: Means, name: str, base: str) -> Mark:
    texts = hypotheses(answered.answer)
    place = 0 if base == PUBLISHED else _place(answered, means, name, len(texts) + 1)
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
        "ideas": "\n\n".join(
            f"{label}:\n<<<\n{text}\n>>>" for label, text in zip(labels, texts, strict=True)
        ),
        "labels": ", ".join(labels),
    }
    answer = await ask_judge(means, RANKS[name], fields, complete)
    return mark(name, answer, lambda ranking: ranking.order.index(labels[place]) / MOST, base)


def _place(answered: Answered, means: Means, name: str, among: int) -> int:
    first = seeded(means.seed, "the place of the real idea")
    return (first + answered.place + (0 if name == "novelty_rank" else among // 2)) % among


async def _merge(
    answered: Answered, means: Means, computed: Computed, rating: Mark, ranks: Sequence[Mark], base: str
) -> Mark:
    measures = [*computed.marks, rating, *ranks]
    fields = {
        "background": answered.probe.question,
        "answer": computed.shown,
        "gold": "\n".join((answered.gold("title"), answered.gold("abstract"))),
        **{each.metric.partition("[")[0]: shown(each) for each in measures},
    }
    failed = [each for each in (rating, *ranks) if each.value is None]
    return await merge(means, "merge_idea", fields, variant(base, _lacking(means)), failed)


def prompts(published: bool) -> list[str]:
    return ["idea_rating", *RANKS.values(), "merge_idea"]


def needs(metric: str) -> frozenset[str]:
    return frozenset({ENCODER_EN})
