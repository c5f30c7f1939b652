"""MemoryBench's domains: the paper's three domains and four task formats, under every protocol."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memflow.benchmarks.dataset_file import load_datasets
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.tasks.catalog import TASKS

DATASETS = load_datasets("memflow.benchmarks.memorybench")
DEMO = Domain(
    "memorybench_demo",
    "memorybench",
    ("memorybench_sample",),
    "MemoryBench in small, from cases that ship with memflow",
)
FIELDS = {"open": "open domain", "legal": "legal domain", "academic": "academic and knowledge domain"}
FORMATS = {
    "LiSo": "long input, short output",
    "SiLo": "short input, long output",
    "LiLo": "long input, long output",
    "SiSo": "short input, short output",
}
"""The task formats, in words; 600 tokens are the boundary."""
_EVERY = ("demo", "open", "legal", "academic", "liso", "silo", "lilo", "siso")
_FIELDS = ("demo", "open", "legal", "academic")
PROTOCOLS: Mapping[str, tuple[str, tuple[str, ...], Mapping[str, Any]]] = {
    "stepwise": ("asked before learning, and after every batch", _EVERY, {"protocol": "stepwise"}),
    "onpolicy": ("each assistant leads the training dialogues itself", _EVERY, {"protocol": "on_policy"}),
    "training": ("asked what was learnt from", _FIELDS, {"protocol": "training"}),
    "same": ("asked before and after feedback on the same question", _FIELDS, {"protocol": "same"}),
    "liked": ("learning from liked answers alone", _FIELDS, {"learn_from": "liked"}),
    "copied": ("learning from copied answers alone", _FIELDS, {"learn_from": "copied"}),
}
"""The further protocols by the end of their domains' names: in words, of which partitions, and how."""
_DEMO = {"stepwise": {"batch": 8}, "onpolicy": {"batch": 8, "steps": 3}}
"""Smaller steps for the sample's 24 training cases."""


def _partitions() -> Iterator[Domain]:
    names = {dataset.name for dataset in DATASETS if not dataset.ships}
    published = [task for task in TASKS.values() if task.name in names]
    for partition, words in (FIELDS | FORMATS).items():
        yield Domain(
            f"memorybench_{partition.lower()}",
            "memorybench",
            tuple(task.name for task in published if partition in (task.field, task.format)),
            f"MemoryBench, {words}",
            {"partition": partition},
        )


def _protocols(domains: Sequence[Domain]) -> Iterator[Domain]:
    by_partition = {domain.name.removeprefix("memorybench_"): domain for domain in domains}
    for end, (words, partitions, parameters) in PROTOCOLS.items():
        for partition in partitions:
            base = by_partition[partition]
            more = _DEMO.get(end, {}) if base is DEMO else {}
            yield replace(
                base,
                name=f"{base.name}_{end}",
                title=f"{base.title}: {words}",
                parameters={**base.parameters, **parameters, **more},
                listed=False,
            )


OFF_POLICY = (DEMO, *_partitions())
DOMAINS = (*OFF_POLICY, *_protocols(OFF_POLICY))
