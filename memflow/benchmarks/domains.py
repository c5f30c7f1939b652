"""What a domain is, and finding one by its name. A domain is a partition key.

Which there are, each benchmark says (benchmarks/<name>/domains.py). A user's own domains come from memflow.toml and are
of the same type; nothing here reads that file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from memflow.errors import BadSettings

M = TypeVar("M", bound=BaseModel)


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
    """How many users, test questions (MemoryBench), trajectories (MemBench) or contexts (CoMem) to take; 0 is all."""

    def limited(self, limit: int) -> "Domain":
        """The same domain, cut to its first `limit` users or questions."""
        return replace(self, limit=limit)


def parse_parameters(shape: type[M], domain: Domain) -> M:
    """The domain's parameters as its benchmark's `shape` has them. Raises BadSettings naming the one that is wrong."""
    try:
        return shape.model_validate(dict(domain.parameters))
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        # A union adds the names of its types to the place, and a list its numbers; those are no names of parameters.
        named = [str(part) for part in first["loc"] if str(part).isidentifier()]
        where = f", parameter {'.'.join(named)}" if named else ""
        raise BadSettings(f"domain {domain.name}{where}: {first['msg']}") from wrong


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
