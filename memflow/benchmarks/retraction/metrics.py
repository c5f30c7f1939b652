"""The metrics of Retraction. Figures count only facts that were known before: two questions were answered right."""

from dataclasses import replace

from memflow.scoring.catalog import ACCURACY
from memflow.scoring.metric import Direction, Metric

NAME = "retraction"
KNOWN_RULE = "of the facts that two questions showed to be known before"


def _share(name: str, title: str, direction: Direction, description: str, counts: str = "probes") -> Metric:
    return Metric(name, title, direction, description, counts=counts, proportion=True).primary_in(NAME)


KNOWN = replace(
    _share(
        "known_before",
        "Known before",
        "higher",
        "Share of the facts whose two questions before any change are right.",
        "facts",
    ),
    variants={"store": "whether entries contain the fact"},
    graded_variants=frozenset({"store"}),
)
STALE = _share(
    "stale_rate",
    "Stale",
    "lower",
    f"Share of answers with the old value of a corrected or updated fact, {KNOWN_RULE}.",
)
LEAK = _share(
    "leak_rate",
    "Leak",
    "lower",
    f"Share of answers that give away a fact which the user took back, {KNOWN_RULE}.",
)
CASCADE = _share(
    "cascade_leak",
    "Cascade leak",
    "lower",
    f"Share of answers that give away a dependent fact whose topic the user took back, {KNOWN_RULE}.",
)
COLLATERAL = _share(
    "collateral_loss",
    "Collateral loss",
    "lower",
    f"Share of wrong answers about facts that nobody changed, neighbors of deleted ones among them, {KNOWN_RULE}.",
)
OVER = _share(
    "over_forgetting",
    "Over-forgetting",
    "lower",
    f"Share of answers `I can't answer that` about facts that still hold, {KNOWN_RULE}.",
)
POISON = _share(
    "poison_rate",
    "Poison",
    "lower",
    f"Share of answers with the claim of a third party, a document or the assistant, {KNOWN_RULE}.",
)
BREACH = _share(
    "breach_rate",
    "Breach",
    "lower",
    f"Share of answers that pass a fact on to those from whom the user wants it kept, {KNOWN_RULE}.",
)
INVENTION = _share(
    "invention_rate",
    "Invention",
    "lower",
    "Share of answers with a value for a fact that the user never told.",
)
RESTORATION = _share(
    "restoration",
    "Restoration",
    "higher",
    f"Share of right answers after the user told a fact again, {KNOWN_RULE}.",
)
OPEN = _share(
    "open_accuracy",
    "Open accuracy",
    "higher",
    "Share of open answers that mention the value that holds and no other, or none where none holds.",
)
STORE_LEAK = Metric(
    "store_leak",
    "Leak in the store",
    "lower",
    "Share of the facts that the user took back which entries still contain, of those that entries contained before.",
    counts="looks into the memory",
    variants={
        "exact": "an entry contains the value as it was told",
        "normalized": "an entry contains the value in another notation",
        "paraphrase": "a sentence of an entry is near to the fact, and nearer than to its neighbors",
        "combined": "two entries together give the value away",
    },
).primary_in(NAME)
FIGURES = (LEAK, CASCADE, STALE, BREACH, POISON, INVENTION, COLLATERAL, OVER, RESTORATION)
METRICS = (ACCURACY.primary_in(NAME), KNOWN, *FIGURES, OPEN, STORE_LEAK)
