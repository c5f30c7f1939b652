"""LoCoMo's domains: the questions that vendors count, with one or three judge contracts, and all questions."""

from memflow.benchmarks.domains import Domain

_ALL_CONTRACTS = {"contracts": ("j_2025", "j_2026", "j_strict")}
_ALL_CATEGORIES = {"categories": (1, 2, 3, 4, 5)}

DOMAINS = (
    Domain(
        "locomo",
        "locomo",
        ("locomo10",),
        "LoCoMo as memory vendors run it: categories 1 to 4, 1,540 questions, judged for J",
        listed=False,
    ),
    Domain(
        "locomo_judges",
        "locomo",
        ("locomo10",),
        "LoCoMo, categories 1 to 4, judged under three contracts: generous, more generous and strict",
        _ALL_CONTRACTS,
        listed=False,
    ),
    Domain(
        "locomo_without_known_errors",
        "locomo",
        ("locomo10",),
        "LoCoMo, categories 1 to 4, without the 99 questions whose answer key is known to be wrong",
        {"known_errors": "left_out"},
        listed=False,
    ),
    Domain(
        "locomo_adversarial",
        "locomo",
        ("locomo10",),
        "LoCoMo, all five categories, 1,986 questions",
        _ALL_CATEGORIES,
        listed=False,
    ),
    Domain(
        "locomo_demo",
        "locomo",
        ("locomo_sample",),
        "LoCoMo in small, from conversations that ship with memflow, under three judge contracts",
        {**_ALL_CONTRACTS, **_ALL_CATEGORIES},
        listed=False,
    ),
)
