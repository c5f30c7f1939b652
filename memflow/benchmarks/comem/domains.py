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
        "comem_dialsim",
        "comem",
        ("comem_friends", "comem_bigbang", "comem_theoffice"),
        "CoMem over seasons of television shows, with questions by rule about who says what",
        {"keys": "rule", "questions": "by_rule", "arrivals": "tokens", "ends": "context"},
    ),
)
