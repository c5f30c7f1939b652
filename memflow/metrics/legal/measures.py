"""Comparison of two judgments: recall and precision of charges and statutes, time and fine, all in [0, 1].

A measure without data is None with a reason, for example recall if the gold has no charges. METEOR and BERTScore of the
passages are computed elsewhere.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from memflow.errors import BadSettings
from memflow.metrics.legal import published
from memflow.metrics.legal.charges import cited_articles, convicted_charges
from memflow.metrics.legal.decision import DEATH, NONE, parse_sentences, total
from memflow.metrics.legal.sections import Sections, split_sections
from memflow.metrics.result import MetricResult

Variant = Literal["standard", "published_code"]


@dataclass(frozen=True, slots=True)
class JudgmentContent:
    """Charges, statutes and sums of prison months and fines (yuan) of a judgment; a sum is -1 if none is imposed."""

    sections: Sections
    charges: frozenset[str]
    statutes: frozenset[str]
    months: int
    fine: int


@lru_cache(maxsize=2_000)
def read_judgment(document: str, variant: Variant = "standard") -> JudgmentContent:
    """Return the charges, statutes, prison months and fine in a judgment. Every text is accepted.

    Charges come from the decision, or else from the reasoning. Statutes come from the reasoning, or else from the
    document without its appendix. The variant `published_code` parses as the published evaluation does. Raises
    BadSettings for an unknown variant.
    """
    if variant == "published_code":
        return JudgmentContent(
            published.sections(document),
            published.charges(document),
            published.statutes(document),
            published.months(document),
            published.fine(document),
        )
    if variant != "standard":
        raise BadSettings(
            f"unknown variant {variant!r} of the judgment metrics. Use 'standard' or 'published_code'."
        )
    parts = split_sections(document)
    people = parse_sentences(parts.judgment)
    convicted = frozenset(charge for person in people for charge in person.charges)
    return JudgmentContent(
        parts,
        convicted or convicted_charges(parts.reasoning),
        cited_articles(parts.reasoning or parts.body),
        total([person.months for person in people]),
        total([person.fine for person in people]),
    )


_LARGE = 10_000


def judgment_scores(answer: str, gold: str, variant: Variant = "standard") -> dict[str, MetricResult]:
    """Return charge and statute recall and precision, time and fine of an answer (A.1.2).

    Months and fines score 1 - |a - b| / max(a, b), 1 if both are 0, and 0 if only one is set or only one is death. In
    `published_code`, a recall or precision without data is 0, and two fines on different sides of 10,000 yuan score 0.
    """
    answer_facts, gold_facts = read_judgment(answer, variant), read_judgment(gold, variant)
    published = variant == "published_code"
    scores = {}
    for kind, answer_names, gold_names in (
        ("charge", answer_facts.charges, gold_facts.charges),
        ("statute", answer_facts.statutes, gold_facts.statutes),
    ):
        common = len(answer_names & gold_names)
        for share, owner, names in (("recall", "gold", gold_names), ("precision", "answer", answer_names)):
            if names:
                score = MetricResult(common / len(names))
            else:
                score = MetricResult(0.0) if published else MetricResult(None, f"the {owner} names no {kind}")
            scores[f"{kind}_{share}"] = score
    one_is_death = (answer_facts.months >= DEATH) != (gold_facts.months >= DEATH)
    scores["time"] = _nearness(
        "prison term", answer_facts.months, gold_facts.months, incomparable=one_is_death
    )
    apart = published and (answer_facts.fine - _LARGE) * (gold_facts.fine - _LARGE) < 0
    scores["fine"] = _nearness("fine", answer_facts.fine, gold_facts.fine, incomparable=apart)
    return scores


def _nearness(kind: str, answer: int, gold: int, *, incomparable: bool) -> MetricResult:
    """Return 1 - |answer - gold| / max(answer, gold), 0 for `incomparable` values; None if both are NONE."""
    if answer == gold:
        return (
            MetricResult(None, f"neither the answer nor the gold sets a {kind}")
            if answer == NONE
            else MetricResult(1.0)
        )
    if incomparable or NONE in (answer, gold):
        return MetricResult(0.0)
    return MetricResult(1 - abs(answer - gold) / max(answer, gold))


def comparable_passages(
    answer: str, gold: str, variant: Variant = "standard"
) -> dict[str, tuple[str, str] | MetricResult]:
    """Return for each passage ("reasoning", "judgment") the texts of answer and gold.

    If a text is missing, return a MetricResult with the reason instead. In `published_code`, a missing passage makes
    both passages incomparable.
    """
    answer_parts, gold_parts = (read_judgment(text, variant).sections for text in (answer, gold))
    passages: dict[str, tuple[str, str] | MetricResult] = {}
    for name, texts in (
        ("reasoning", (answer_parts.reasoning, gold_parts.reasoning)),
        ("judgment", (answer_parts.judgment, gold_parts.judgment)),
    ):
        owners = [owner for owner, text in zip(("the answer", "the gold"), texts, strict=True) if not text]
        reason = f"no {name} is found in {' and '.join(owners)}"
        passages[name] = MetricResult(None, reason) if owners else texts
    gap = next((pair for pair in passages.values() if isinstance(pair, MetricResult)), None)
    if variant == "published_code" and gap:
        return {name: pair if isinstance(pair, MetricResult) else gap for name, pair in passages.items()}
    return passages
