"""The known data sets: what each is, its licence, its origin, and how a person gets it.

Finding the files and checking their sums is resources/library.py; reading them is the benchmark's records.py. None of
the published data ships with memflow; what does ship is our own writing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memflow.errors import BadInput


@dataclass(frozen=True)
class Dataset:
    """A published data set. `files` are paths below the data folder; `sums` their SHA-256 as published, where known."""

    name: str
    title: str
    benchmark: str
    files: tuple[str, ...]
    licence: str
    origin: str
    how: str
    """How a person gets it, in one sentence."""
    sums: Mapping[str, str] = field(default_factory=dict)
    ships: bool = False
    """True for our own samples: `files` are then paths inside the package `memflow`."""
    readable: bool = True
    """False while memflow knows the data set but has no reader for it yet."""


DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "personas_sample",
            "Personas of our own writing, for amemgym_demo",
            "amemgym",
            ("benchmarks/amemgym/sample/personas.jsonl",),
            "Apache-2.0",
            "memflow",
            "It ships with memflow.",
            ships=True,
        ),
        Dataset(
            "amemgym_v1_base",
            "AMemGym v1.base: 20 users, 11 periods, 10 questions each",
            "amemgym",
            ("amemgym/v1.base/data.json",),
            "CC-BY-4.0",
            "Hugging Face dataset AGI-Eval/AMemGym",
            "Download v1.base/data.json of AGI-Eval/AMemGym to amemgym/v1.base/data.json in the data folder.",
        ),
        Dataset(
            "memorybench_sample",
            "A conversation and cases of our own writing, English and Chinese, for memorybench_demo",
            "memorybench",
            ("benchmarks/memorybench/sample/conversation.json", "benchmarks/memorybench/sample/cases.jsonl"),
            "Apache-2.0",
            "memflow",
            "It ships with memflow.",
            ships=True,
        ),
        Dataset(
            "locomo",
            "LoCoMo: 10 long conversations, 1,986 questions",
            "memorybench",
            ("locomo/locomo10.json",),
            "CC BY-NC 4.0",
            "GitHub snap-research/LoCoMo",
            "Download data/locomo10.json of snap-research/LoCoMo to locomo/locomo10.json in the data folder.",
        ),
    )
}


def dataset(name: str) -> Dataset:
    """The data set of that name. Raises BadInput naming those there are."""
    if name not in DATASETS:
        raise BadInput(f"there is no data set {name!r}; there are {', '.join(DATASETS)}")
    return DATASETS[name]
