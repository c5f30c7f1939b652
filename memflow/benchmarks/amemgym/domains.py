"""AMemGym's domains: a demo, published users, recorded runs, and generated users in the sizes of the paper."""

from memflow.benchmarks.domains import Domain

DOMAINS = (
    Domain(
        "amemgym_demo",
        "amemgym",
        ("personas_sample",),
        "AMemGym, generated from personas that ship with memflow",
        {
            "users": 3,
            "periods": 4,
            "questions": 4,
            "variables_per_question": 2,
            "choices_per_variable": 3,
            "changes_per_period": 3,
            "max_changes_per_variable": 3,
            "min_variants": 4,
            "months_per_period": 3,
            "rounds_init": 1,
            "rounds_update": 2,
            "start_date": "2020-10-01",
            "draw": "file",
        },
    ),
    Domain(
        "amemgym_demo_zh",
        "amemgym",
        ("personas_zh",),
        "AMemGym, generated in Chinese from invented personas",
        {"users": 3, "periods": 4, "questions": 4, "changes_per_period": 3, "language": "zh"},
        listed=False,
    ),
    Domain(
        "amemgym_base",
        "amemgym",
        ("amemgym_v1_base",),
        "AMemGym v1.base as published: 20 users, 11 periods, 10 questions",
        {"rounds_init": 1, "rounds_update": 2},
    ),
    Domain(
        "amemgym_base_offpolicy",
        "amemgym",
        ("amemgym_v1_base", "amemgym_v1_base_run"),
        "AMemGym v1.base off-policy: the dialogues of a recorded run, given to every memory",
        {"rounds_init": 1, "rounds_update": 2, "policy": "off"},
        listed=False,
    ),
    *(
        Domain(
            f"amemgym_recorded_{agent}",
            "amemgym",
            (f"amemgym_recorded_{agent}",),
            f"AMemGym off-policy: dialogues recorded with {words} of qwen-14b, users rebuilt from its results",
            {"rounds_init": 1, "rounds_update": 2, "policy": "off"},
            listed=False,
        )
        for agent, words in (("native", "the native LLM"), ("awi", "AWI"))
    ),
    Domain(
        "amemgym_base_generated",
        "amemgym",
        ("personas_en",),
        "AMemGym with the sizes of v1.base, generated from invented personas",
        {"users": 20},
        listed=False,
    ),
    Domain(
        "amemgym_extra",
        "amemgym",
        ("personas_en",),
        "AMemGym with the sizes of the paper's extra setting, generated: its authors have not released that data",
        {
            "users": 20,
            "periods": 21,
            "variables_per_question": 3,
            "rounds_init": 2,
            "rounds_update": 5,
        },
        listed=False,
    ),
)
