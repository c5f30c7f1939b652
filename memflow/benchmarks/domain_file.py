"""Domains of a benchmark from `domains.toml` in its package: one table per domain, by name.

The keys of a table are the fields of `Domain`, with lists for tuples. With `base`, the name of an earlier domain, the
domain has the data sets of that one, and its parameters beside its own.
"""

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.packaged import load_toml


def load_domains(package: str) -> tuple[Domain, ...]:
    """Return the domains of a package's `domains.toml`, in order. The last part of its name is the benchmark's."""
    benchmark = package.rpartition(".")[2]
    domains: dict[str, Domain] = {}
    for name, table in load_toml(package, "domains.toml").items():
        fields = dict(table)
        if "base" in fields:
            base = domains[fields.pop("base")]
            parameters = {**base.parameters, **fields.get("parameters", {})}
            fields |= {"datasets": base.datasets, "parameters": parameters}
        domains[name] = Domain(name=name, benchmark=benchmark, **fields)
    return tuple(domains.values())
