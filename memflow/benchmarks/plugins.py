"""Discovery of benchmark plug-ins by entry point, and the reasons why a plug-in is unusable.

An unusable plug-in is listed and raises no error. registry.py looks up benchmarks by name.
"""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any

from memflow.benchmarks.spec import BenchmarkSpec
from memflow.entry_points import is_ours, package_of

NAME = re.compile(r"[a-z][a-z0-9_]*")


class NotLoadable(Exception):
    """The error for an import path that cannot be loaded. The message contains the reason."""


@dataclass(frozen=True)
class Unusable:
    """An unusable plug-in with the reason. `package` is the distribution and its version."""

    name: str
    package: str
    reason: str

    def __str__(self) -> str:
        return f"the benchmark {self.name} of the package {self.package} cannot be used: {self.reason}"


@dataclass(frozen=True)
class Plugin:
    """A benchmark and the package that provides it. `ours`: whether memflow itself provides the benchmark."""

    spec: BenchmarkSpec
    package: str
    ours: bool = False


@dataclass(frozen=True)
class Catalog:
    """The usable plug-ins by benchmark name, and the unusable plug-ins."""

    plugins: Mapping[str, Plugin]
    unusable: tuple[Unusable, ...] = ()


def load_object(path: str) -> Any:
    """Return the object at an import path `module:attribute`. Raises NotLoadable."""
    module, _, attribute = path.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # whatever the module of another package raises on import
        raise NotLoadable(
            f"{path} cannot be imported ({type(error).__name__}: {error}). Fix the module or the path."
        ) from error


def collect(points: Iterable[EntryPoint]) -> Catalog:
    """Return the usable benchmarks in the order of their entry points, and the unusable ones with the reasons."""
    found: dict[str, Plugin] = {}
    unusable = []
    for point in points:
        package = package_of(point)
        try:
            spec = load_object(point.value)
        except NotLoadable as error:
            unusable.append(Unusable(point.name, package, str(error)))
            continue
        reason = next(_spec_problems(point.name, spec, found.values()), "")
        if reason:
            unusable.append(Unusable(point.name, package, reason))
        else:
            found[spec.name] = Plugin(spec, package, is_ours(point))
    return Catalog(found, tuple(unusable))


def implementation_problem(spec: BenchmarkSpec, implementation: object) -> str:
    """Return the reason why an object is not the implementation that a spec describes, or an empty text if it is."""
    from memflow.benchmarks.api import Benchmark  # noqa: PLC0415  (listing domains needs no implementation)

    if not (isinstance(implementation, type) and issubclass(implementation, Benchmark)):
        return f"{spec.implementation} is not a subclass of memflow.benchmarks.api.Benchmark"
    if inspect.isabstract(implementation):
        return (
            f"{spec.implementation} does not define {', '.join(sorted(implementation.__abstractmethods__))}"
        )
    name = getattr(implementation, "name", "")
    if name != spec.name:
        return f"{spec.implementation} has the name {name!r}, but its spec has the name {spec.name!r}"
    return ""


def code_problem(spec: BenchmarkSpec) -> str:
    """Import all parts of a benchmark and return the reason why its code is unusable, or an empty text."""
    try:
        for path in spec.parts:
            load_object(path)
        return implementation_problem(spec, load_object(spec.implementation))
    except NotLoadable as error:
        return str(error)


def _spec_problems(name: str, spec: object, accepted: Iterable[Plugin]) -> Iterator[str]:
    """Return the reasons why a spec is unusable: missing fields, or names that another benchmark already uses."""
    if not isinstance(spec, BenchmarkSpec):
        yield "the entry point is not a memflow.benchmarks.spec.BenchmarkSpec"
        return
    if spec.name != name:
        yield f"the spec has the name {spec.name!r}, which differs from the name of the entry point; rename one"
    named = {
        "domain": [each.name for each in spec.domains],
        "data set": [each.name for each in spec.datasets],
    }
    for each in (spec.name, *named["domain"], *named["data set"]):
        if not NAME.fullmatch(each):
            yield f"{each!r} is not a valid name; use lowercase letters, digits and _, and start with a letter"
    for kind, names in named.items():
        if len(set(names)) < len(names):
            yield f"two {kind}s of the spec have the same name; rename one"
    if not spec.domains or not spec.implementation:
        yield f"the spec has no {'implementation' if spec.domains else 'domains'}"
    for domain in spec.domains:
        if domain.benchmark != name:
            yield f"the domain {domain.name} belongs to the benchmark {domain.benchmark!r}, not to the spec's"
        for dataset in domain.datasets:
            if dataset not in named["data set"]:
                yield f"the domain {domain.name} uses the data set {dataset!r}, which the spec does not declare"
    yield from _clashes(name, named, accepted)


def _clashes(name: str, named: Mapping[str, list[str]], accepted: Iterable[Plugin]) -> Iterator[str]:
    for plugin in accepted:
        other = plugin.spec
        if other.name == name:
            yield f"the package {plugin.package} has a benchmark with the same name; rename one of them"
        domains: set[str] = {each.name for each in other.domains}
        datasets: set[str] = {each.name for each in other.datasets}
        for kind, used in (("domain", domains), ("data set", datasets)):
            if shared := used & set(named[kind]):
                yield f"the package {plugin.package} also has a {kind} {min(shared)!r}; rename one of them"
