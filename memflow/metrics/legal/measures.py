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
    said, wanted = read_judgment(answer, variant), read_judgment(gold, variant)
    published = variant == "published_code"
    found = {}
    for what, mine, theirs in (
        ("charge", said.charges, wanted.charges),
        ("statute", said.statutes, wanted.statutes),
    ):
        common = len(mine & theirs)
        for share, whose, named in (("recall", "gold", theirs), ("precision", "answer", mine)):
            if named:
                score = MetricResult(common / len(named))
            else:
                score = MetricResult(0.0) if published else MetricResult(None, f"the {whose} names no {what}")
            found[f"{what}_{share}"] = score
    dead = (said.months >= DEATH) != (wanted.months >= DEATH)
    found["time"] = _nearness("prison term", said.months, wanted.months, apart=dead)
    large = published and (said.fine - _LARGE) * (wanted.fine - _LARGE) < 0
    found["fine"] = _nearness("fine", said.fine, wanted.fine, apart=large)
    return found


def _nearness(what: str, said: int, wanted: int, *, apart: bool) -> MetricResult:
    if said == wanted:
        return (
            MetricResult(None, f"neither the answer nor the gold sets a {what}")
            if said == NONE
            else MetricResult(1.0)
        )
    if apart or NONE in (said, wanted):
        return MetricResult(0.0)
    return MetricResult(1 - abs(said - wanted) / max(said, wanted))


def comparable_passages(
    answer: str, gold: str, variant: Variant = "standard"
) -> dict[str, tuple[str, str] | MetricResult]:
    """Return for each passage ("reasoning", "judgment") the texts of answer and gold.

    If a text is missing, return a MetricResult with the reason instead. In `published_code`, a missing passage makes
    both passages incomparable.
    """
    said, wanted = read_judgment(answer, variant).sections, read_judgment(gold, variant).sections
    found: dict[str, tuple[str, str] | MetricResult] = {}
    for name, mine, theirs in (
        ("reasoning", said.reasoning, wanted.reasoning),
        ("judgment", said.judgment, wanted.judgment),
    ):
        lacking = " and ".join(
            whose for whose, text in (("the answer", mine), ("the gold", theirs)) if not text
        )
        found[name] = MetricResult(None, f"no {name} is found in {lacking}") if lacking else (mine, theirs)
    missing = next((one for one in found.values() if isinstance(one, MetricResult)), None)
    if variant == "published_code" and missing:
        return {name: one if isinstance(one, MetricResult) else missing for name, one in found.items()}
    return found
