"""What a judgment says, put together: charges, statutes, months and fine. How two are compared is in `measures`."""

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
    """What a judgment says. `months` and `fine` (yuan) are sums over those convicted; -1 where none is set."""

    sections: Sections
    charges: frozenset[str]
    statutes: frozenset[str]
    months: int
    fine: int


@lru_cache(maxsize=2_000)
def read_judgment(document: str, variant: Variant = "standard") -> JudgmentContent:
    """The reading of a judgment; never fails, however odd the text.

    Charges are those of the decision, or, where it names none, those that the reasoning finds made out. Statutes are
    those of the reasoning, or, where there is none, of the document without its appendix. Months and fine are the
    decision's alone. `published_code` reads as the published evaluation does (`published`). Raises BadSettings for
    another variant.
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
        raise BadSettings(f"a judgment has no reading {variant!r}; it has 'standard' and 'published_code'")
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
