"""Retraction's commands: `memflow show retraction`, with constant policies, and `memflow show life`."""

from memflow.benchmarks.views import ASSISTANT_OPTION, DOMAIN_OPTION, Option, View

VIEWS = (
    View(
        "retraction",
        "Show what became of facts that users took back, with constant policies and the requests to forget.",
        f"{__name__}.figures:show_retraction",
        (DOMAIN_OPTION, ASSISTANT_OPTION),
    ),
    View(
        "life",
        "Show the life of a retracted fact in a memory: told, stored, derived, taken back, found again.",
        f"{__name__}.figures:show_life",
        (
            Option("probe", "The id of a probe of the fact.", positional=True, metavar="PROBE"),
            DOMAIN_OPTION,
            ASSISTANT_OPTION,
        ),
    ),
)
