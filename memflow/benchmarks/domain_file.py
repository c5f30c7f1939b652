"""Domains of a benchmark from `domains.toml` in its package: one table per domain, by name.

The keys of a table are the fields of `Domain`, with lists for tuples.
"""

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.packaged import load_toml


def load_domains(package: str) -> tuple[Domain, ...]:
    """Return the domains of a package's `domains.toml`, in order. The last part of its name is the benchmark's."""
    benchmark = package.rpartition(".")[2]
    return tuple(
        Domain(name=name, benchmark=benchmark, **table)
        for name, table in load_toml(package, "domains.toml").items()
    )
