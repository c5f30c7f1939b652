"""CoMem's domains: the data sets of the paper whose sources are available, and small dialogues for a demo."""

from memflow.benchmarks.domains import Domain

DOMAINS = (
    *(
        Domain(
            f"comem_personamem_{size}",
            "comem",
            (f"personamem_{size}",),
            f"CoMem on PersonaMem, {title}: a user and an assistant, with preferences that change",
            listed=size != "1m",
        )
        for size, title in (("32k", "32k tokens"), ("128k", "128k tokens"), ("1m", "1M tokens"))
    ),
    Domain(
        "comem_dialsim_quotes",
        "comem",
        ("comem_friends", "comem_bigbang", "comem_theoffice"),
        "Quotes from seasons of television shows: who says what, by rule; not the questions of CoMem or DialSim",
        {"keys": "rule", "questions": "by_rule", "arrivals": "tokens"},
    ),
    Domain(
        "comem_dialsim_published",
        "comem",
        ("comem_friends", "comem_bigbang", "comem_theoffice"),
        "CoMem over seasons of television shows, with DialSim's own questions, from its pickles",
        {"arrivals": "tokens"},
        listed=False,
    ),
    Domain(
        "comem_friendsqa",
        "comem",
        ("friendsqa",),
        "CoMem on FriendsQA: seasons of a series as dialogues of many, and who said what in which scene",
        {"keys": "rule", "arrivals": "tokens", "ends": "question"},
    ),
    Domain(
        "comem_demo",
        "comem",
        ("comem_sample",),
        "CoMem in small, from dialogues that ship with memflow",
        {"keys": "rule", "ends": "question"},
        listed=False,
    ),
    Domain(
        "comem_amemgym",
        "comem",
        ("comem_amemgym",),
        "CoMem with AMemGym's users: their keys follow from the states that they tell",
        {"keys": "rule", "unknown": "option", "ends": "question"},
        listed=False,
    ),
    Domain(
        "comem_demo_annotated",
        "comem",
        ("comem_sample",),
        "CoMem in small, the same dialogues, with keys by two rounds of annotation",
        {"ends": "question"},
        listed=False,
    ),
)
