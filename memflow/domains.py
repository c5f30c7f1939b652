"""The domains, and which benchmark, data sets and protocol each is. A domain is a partition key.

A user's own domains come from memflow.toml and are of the same type; nothing here reads that file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memflow.errors import BadSettings


@dataclass(frozen=True)
class Domain:
    """A benchmark's testbed. `parameters` are the benchmark's own; `datasets` name what it is read from."""

    name: str
    benchmark: str
    datasets: tuple[str, ...]
    title: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 42
    listed: bool = True
    """Whether it is a partition where the settings name no domains; others are by name."""
    limit: int = 0
    """How many users (AMemGym) or test questions (MemoryBench) to take; 0 is all."""

    def limited(self, limit: int) -> "Domain":
        """The same domain, cut to its first `limit` users or questions."""
        return replace(self, limit=limit)


DOMAINS: dict[str, Domain] = {
    domain.name: domain
    for domain in (
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
        Domain(
            "memorybench_demo",
            "memorybench",
            ("memorybench_sample",),
            "MemoryBench in small, from cases that ship with memflow",
        ),
        Domain(
            "memorybench_open",
            "memorybench",
            (
                "locomo",
                "dialsim_friends",
                "dialsim_bigbang",
                "dialsim_theoffice",
                "hellobench_creative",
                "writingprompts",
                "writingbench_creative",
                "nfcats",
            ),
            "MemoryBench, open domain",
        ),
    )
}


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
"""MemoryBench's further protocols by the end of their domains' names: in words, of which partitions, and how."""
_DEMO = {"stepwise": {"batch": 8}, "onpolicy": {"batch": 8, "steps": 3}}
"""Smaller steps for the sample's 24 training cases."""


def _protocols(domains: Mapping[str, Domain]) -> Iterator[Domain]:
    for end, (words, partitions, parameters) in PROTOCOLS.items():
        for partition in partitions:
            base = domains.get(f"memorybench_{partition}")
            if base is not None:
                more = _DEMO.get(end, {}) if partition == "demo" else {}
                yield replace(
                    base,
                    name=f"{base.name}_{end}",
                    title=f"{base.title}: {words}",
                    parameters={**base.parameters, **parameters, **more},
                    listed=False,
                )


DOMAINS |= {domain.name: domain for domain in _protocols(DOMAINS)}


def find(name: str, more: Mapping[str, Domain] | None = None) -> Domain:
    """The domain of that name. Raises BadSettings naming those there are."""
    known = {**DOMAINS, **(more or {})}
    if name not in known:
        raise BadSettings(f"there is no domain {name!r}; there are {', '.join(sorted(known))}")
    return known[name]
