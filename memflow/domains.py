"""What a domain is, and finding one by its name. A domain is a partition key.

Which there are, each benchmark says (benchmarks/<name>/domains.py). A user's own domains come from memflow.toml and are
of the same type; nothing here reads that file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
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


@cache
def built_in() -> Mapping[str, Domain]:
    """Every domain that memflow knows, by its name."""
    from memflow.benchmarks.registry import DOMAINS  # noqa: PLC0415  (the benchmarks are made of this type)

    return {domain.name: domain for domain in DOMAINS}


def find(name: str, more: Mapping[str, Domain] | None = None) -> Domain:
    """The domain of that name. Raises BadSettings naming those there are."""
    known = {**built_in(), **(more or {})}
    if name not in known:
        raise BadSettings(f"there is no domain {name!r}; there are {', '.join(sorted(known))}")
    return known[name]
