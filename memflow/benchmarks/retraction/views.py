"""Retraction's command `memflow show retraction` (figures.py)."""

from memflow.benchmarks.views import ASSISTANT_OPTION, DOMAIN_OPTION, View

VIEWS = (
    View(
        "retraction",
        "Show what became of facts that users took back, with constant policies and the requests to forget.",
        "memflow.benchmarks.retraction.figures:show_retraction",
        (DOMAIN_OPTION, ASSISTANT_OPTION),
    ),
)
