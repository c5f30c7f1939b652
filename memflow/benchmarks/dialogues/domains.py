"""The domain of the benchmark that ships with memflow. Users declare theirs in memflow.toml (`memflow init --data`)."""

from memflow.benchmarks.domains import Domain

DOMAINS = (
    Domain(
        "dialogues_demo",
        "dialogues",
        ("dialogues_sample",),
        "Own dialogues in small: 20 dialogues with 60 questions that ship with memflow",
        listed=False,
    ),
)
