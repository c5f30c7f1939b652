"""The data set of the benchmark: dialogues written for memflow. Users add their own in memflow.toml."""

from memflow.benchmarks.datasets import Dataset

DATASETS = (
    Dataset(
        "dialogues_sample",
        "Dialogues with questions of our own writing, for dialogues_demo",
        "dialogues",
        ("benchmarks/dialogues/sample/dialogues.jsonl",),
        "Apache-2.0",
        "memflow",
        "It ships with memflow.",
        ships=True,
        counts={"dialogues": 20, "questions": 60},
    ),
)
