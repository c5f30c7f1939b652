"""The content of a judgment: charges, statutes, months and fine."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from memflow.errors import BadSettings
from memflow.metrics.legal import published
from memflow.metrics.legal.charges import convicted_charges
from memflow.metrics.legal.decision import parse_sentences, total
from memflow.metrics.legal.sections import Sections, split_sections
from memflow.metrics.legal.statutes import cited_articles

Variant = Literal["standard", "published_code"]


@dataclass(frozen=True, slots=True)
class JudgmentContent:
    """The content of a judgment. `months` and `fine` (yuan) are sums over the convicted; -1 if not set."""

    sections: Sections
    charges: frozenset[str]
    statutes: frozenset[str]
    months: int
    fine: int


@lru_cache(maxsize=2_000)
def read_judgment(document: str, variant: Variant = "standard") -> JudgmentContent:
    """Return the content of a judgment, for any text.

    Charges are those of the decision, or else those that the reasoning affirms. Statutes are those of the reasoning,
    or else of the document without its appendix. `published_code` parses as the published evaluation does. Raises
    BadSettings for another variant.
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
        raise BadSettings(f"judgments have no variant {variant!r}; use 'standard' and 'published_code'")
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
