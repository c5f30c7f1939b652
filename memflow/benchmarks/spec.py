"""The description of a benchmark that an entry point `memflow.benchmarks` refers to.

Its metrics have an entry point of the same name in the group `memflow.metrics`: its own, and the shared metrics that
are primary for it (`Metric.primary_for`).

Commands that list domains or print help read specs only. For speed, modules with specs import few other modules. api.py
has the protocol that a benchmark's code implements. registry.py finds the specs.
"""

from dataclasses import dataclass

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain


@dataclass(frozen=True)
class BenchmarkSpec:
    """The name, domains and data sets of a benchmark, and the import paths (`module:attribute`) of its parts.

    All parts except `implementation` may be empty.
    """

    name: str
    """Lower case letters, digits and `_`; also the name of the entry point and `Domain.benchmark`."""
    title: str
    """The name for people, such as the paper's."""
    domains: tuple[Domain, ...]
    implementation: str
    """Import path of a subclass of `memflow.benchmarks.api.Benchmark`."""
    datasets: tuple[Dataset, ...] = ()
    checks: tuple[str, ...] = ()
    """Import paths of sequences of `memflow.checks.rules.Expectation`: the rules of this benchmark's rows."""
    views: str = ""
    """Import path of a sequence of `memflow.benchmarks.views.View`: the commands of `memflow show`."""
    exports: str = ""
    """Import path of a sequence of `memflow.benchmarks.views.Export`: the commands of `memflow export`."""
    imports: str = ""
    """Import path of a sequence of `memflow.benchmarks.views.Import`: the commands of `memflow import`."""
    annotation: str = ""
    """Import path of a mapping from name to `memflow.annotation.kind.Kind`: what people can annotate."""
    protocol: str = ""
    """Import path of a `memflow.benchmarks.protocol.BenchmarkProtocol`: what its paper and published code fix."""
    paper: str = ""
    """The package with `paper.yaml` and `paper.csv`: the tables of its paper (memflow/papers/schema.py)."""
    own_files: str = ""
    """Import path of a `memflow.benchmarks.own_files.OwnFiles`: its format for everybody's own data."""
    conversions: str = ""
    """Import path of a sequence of `memflow.benchmarks.own_files.Conversion`: commands of `memflow import`."""
    unit: str = "episodes"
    """What `--limit` counts in its domains, in the plural."""
    usual_dataset: str = ""
    """The data set that `memflow data get NAME` with the benchmark's name downloads; empty for none."""
    demo: str = ""
    """The domain that `memflow run --demo` runs; empty for none."""
    retrieval_demo: str = ""
    """The domain on which `memflow run --demo` measures retrieval; empty for none."""

    @property
    def parts(self) -> list[str]:
        """The import paths of the optional parts that it has."""
        optional = (self.views, self.exports, self.imports, self.annotation, self.protocol)
        return [path for path in (*self.checks, *optional, self.own_files, self.conversions) if path]
