"""CoMem's domains: what the paper curates, as far as its sources can be had, and dialogues to try things with."""

from memflow.domains import Domain

DOMAINS = (
    Domain(
        "comem_demo",
        "comem",
        ("comem_sample",),
        "CoMem in small, from dialogues that ship with memflow",
        {"keys": "rule"},
        listed=False,
    ),
    Domain(
        "comem_demo_annotated",
        "comem",
        ("comem_sample",),
        "the same dialogues, with keys by two rounds of annotation",
        listed=False,
    ),
)
