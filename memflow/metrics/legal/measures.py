"""How near one judgment comes to another: recall and precision of charges and statutes, time and fine.

All are in [0, 1]. One that cannot be had is no 0 but None with a reason: recall where the gold names nothing, precision
where the answer names nothing (its recall is 0 then), time where neither sets a term, fine where neither sets one.
`published_code` has 0 instead of the first two. The texts of reasoning and judgment are compared by others; here is
which texts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memflow.metrics.legal.decision import DEATH, NONE
from memflow.metrics.legal.reading import Variant, read

Similarity = Callable[[str, str], float]
"""How alike an answer's text is to the gold's: METEOR, BERTScore."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A value in [0, 1], or None and why there is none."""

    value: float | None
    reason: str | None = None


def measures(answer: str, gold: str, variant: Variant = "standard") -> dict[str, Measure]:
    """charge_recall, charge_precision, statute_recall, statute_precision, time and fine of an answer.

    Months and fines are compared by 1 - |a - b| / max(a, b), which is 1 where both are 0; a term that one sets and the
    other does not is 0, and so is a death sentence beside none. In `published_code` the last rule also meets fines:
    one above 10,000 yuan beside one below it is 0.
    """
    said, wanted = read(answer, variant), read(gold, variant)
    published = variant == "published_code"
    charge_recall, charge_precision = _overlap("charge", said.charges, wanted.charges, published)
    statute_recall, statute_precision = _overlap("statute", said.statutes, wanted.statutes, published)
    return {
        "charge_recall": charge_recall,
        "charge_precision": charge_precision,
        "statute_recall": statute_recall,
        "statute_precision": statute_precision,
        "time": _nearness("prison term", said.months, wanted.months, split=True),
        "fine": _nearness("fine", said.fine, wanted.fine, split=published),
    }


def _overlap(
    what: str, said: frozenset[str], wanted: frozenset[str], published: bool
) -> tuple[Measure, Measure]:
    common = len(said & wanted)

    def share(of: frozenset[str], who: str) -> Measure:
        if of:
            return Measure(common / len(of))
        return Measure(0.0) if published else Measure(None, f"the {who} names no {what}")

    return share(wanted, "gold"), share(said, "answer")


def _nearness(what: str, said: int, wanted: int, *, split: bool) -> Measure:
    if said == wanted == NONE:
        return Measure(None, f"neither the answer nor the gold sets a {what}")
    if NONE in (said, wanted):
        return Measure(0.0)
    if said == wanted:
        return Measure(1.0)
    if split and min(said, wanted) < DEATH - 1 < max(said, wanted):
        return Measure(0.0)
    return Measure(1 - abs(said - wanted) / max(said, wanted))


def compared(answer: str, gold: str, variant: Variant = "standard") -> dict[str, tuple[str, str] | str]:
    """For "reasoning" and "judgment" the two texts to compare, the answer's first, or why they cannot be.

    In `published_code` one missing section is the end of both.
    """
    said, wanted = read(answer, variant).sections, read(gold, variant).sections
    found: dict[str, tuple[str, str] | str] = {}
    for name, mine, theirs in (
        ("reasoning", said.reasoning, wanted.reasoning),
        ("judgment", said.judgment, wanted.judgment),
    ):
        missing = [who for who, text in (("answer", mine), ("gold", theirs)) if not text]
        found[name] = f"the {' and the '.join(missing)} has no {name}" if missing else (mine, theirs)
    if variant == "published_code" and (gone := [one for one in found.values() if isinstance(one, str)]):
        return {name: one if isinstance(one, str) else gone[0] for name, one in found.items()}
    return found


def similarities(
    answer: str, gold: str, by: Mapping[str, Similarity], variant: Variant = "standard"
) -> dict[str, Measure]:
    """reasoning_NAME and judgment_NAME for each similarity NAME: meteor, bertscore."""
    return {
        f"{section}_{name}": Measure(None, texts) if isinstance(texts, str) else Measure(similar(*texts))
        for name, similar in by.items()
        for section, texts in compared(answer, gold, variant).items()
    }
