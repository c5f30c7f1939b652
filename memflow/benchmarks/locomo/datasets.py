"""LoCoMo's data sets: the published file, and two conversations written for memflow in the same format."""

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.memorybench.datasets import LOCOMO_DOWNLOAD

DATASETS = (
    Dataset(
        "locomo_sample",
        "Two conversations of our own writing in LoCoMo's format, for locomo_demo",
        "locomo",
        ("benchmarks/locomo/sample/conversations.json",),
        "Apache-2.0",
        "memflow",
        "It ships with memflow.",
        ships=True,
    ),
    Dataset(
        "locomo10",
        "LoCoMo for J: 10 long conversations, 1,986 questions, with captions of shared images",
        "locomo",
        ("locomo/locomo10.json",),
        "CC BY-NC 4.0",
        "GitHub snap-research/LoCoMo",
        "Download data/locomo10.json of snap-research/LoCoMo to locomo/locomo10.json in the data folder.",
        {"locomo/locomo10.json": "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"},
        counts={"conversations": 10, "sessions": 272, "messages": 5_882, "questions": 1_986},
        download=LOCOMO_DOWNLOAD,
    ),
)
