"""The registry of installed benchmarks, which are found by the entry point group `memflow.benchmarks`.

An entry point names a `BenchmarkSpec`. The code of a benchmark is imported at its first use. Lists omit plug-ins whose
code cannot be imported; a lookup by name raises BadSettings with the package and the reason.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from memflow import entry_points
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domain_names import DEFAULT_PROFILE
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.plugins import (
    Catalog,
    NotLoadable,
    Unusable,
    code_problem,
    collect,
    implementation_problem,
    load_object,
)
from memflow.benchmarks.protocol import BenchmarkProtocol, variants
from memflow.benchmarks.spec import BenchmarkSpec
from memflow.errors import BadInput, BadSettings
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from memflow.annotation.kind import Kind
    from memflow.benchmarks.api import Benchmark
    from memflow.benchmarks.own_files import Conversion, OwnFiles
    from memflow.benchmarks.views import Export, Import, View
    from memflow.chat.scripted import Handler
    from memflow.checks.rules import Expectation


@cache
def installed() -> Catalog:
    """Import the specs of all installed packages, without the code of the benchmarks, and return the catalog.

    Raises BadSettings if memflow's own benchmarks are not registered.
    """
    return collect(entry_points.installed(entry_points.BENCHMARKS))


def specs() -> list[BenchmarkSpec]:
    """Return the specs of all usable benchmarks, memflow's own first."""
    return [plugin.spec for plugin in installed().plugins.values()]


def spec_of(name: str) -> BenchmarkSpec:
    """Return the spec of a benchmark. Raises BadSettings if the name is unknown or the plug-in is unusable."""
    catalog = installed()
    if name in catalog.plugins:
        return catalog.plugins[name].spec
    for plugin in catalog.unusable:
        if plugin.name == name:
            raise BadSettings(str(plugin))
    raise BadSettings(unknown_name("benchmark", name, catalog.plugins))


@cache
def domains() -> Mapping[str, Domain]:
    """Return the domains of all benchmarks by name."""
    return {domain.name: domain for spec in specs() for domain in spec.domains}


def default_domains() -> tuple[str, ...]:
    """Return the domains that memflow's own benchmarks declare as default partitions."""
    ours = [plugin.spec for plugin in installed().plugins.values() if plugin.ours]
    return tuple(domain.name for spec in ours for domain in spec.domains if domain.listed)


@cache
def datasets() -> Mapping[str, Dataset]:
    """Return the data sets of all benchmarks by name."""
    return {dataset.name: dataset for spec in specs() for dataset in spec.datasets}


def find_domain(name: str, more: Mapping[str, Domain] | None = None) -> Domain:
    """Return a domain by name, from `more` or from all benchmarks. Raises BadSettings for an unknown name."""
    known = {**domains(), **(more or {})}
    if name not in known:
        raise BadSettings(unknown_name("domain", name, known, "memflow domains"))
    return known[name]


def find_dataset(name: str, known: Mapping[str, Dataset] | None = None) -> Dataset:
    """Return a data set by name, from `known` or from all benchmarks. Raises BadInput for an unknown name."""
    among = datasets() if known is None else known
    if name not in among:
        raise BadInput(unknown_name("data set", name, among, "memflow data"))
    return among[name]


@cache
def benchmark(name: str) -> "Benchmark":
    """Return a benchmark by name. Raises BadSettings if the name is unknown or the code is unusable."""
    spec = spec_of(name)
    implementation = _load(name, spec.implementation)
    reason = implementation_problem(spec, implementation)
    if reason:
        raise BadSettings(str(Unusable(name, installed().plugins[name].package, reason)))
    made: Benchmark = implementation()
    return made


def benchmarks() -> "list[Benchmark]":
    """Return all usable benchmarks, memflow's own first."""
    return [benchmark(name) for name in _usable(benchmark)]


def handlers() -> "dict[str, Handler]":
    """Return the scripted chat's handlers for the prompts of every benchmark, by prompt name.

    If two benchmarks share a prompt name, the handler of memflow's own benchmark is used.
    """
    of_each = [own_benchmark.handlers() for own_benchmark in benchmarks()]
    return {prompt: handler for own in reversed(of_each) for prompt, handler in own.items()}


@cache
def expectations(name: str) -> "tuple[Expectation, ...]":
    """Return the rules for the rows of a benchmark, which apply to the domains of this benchmark only."""
    return tuple(replace(rule, benchmark=name) for path in spec_of(name).checks for rule in _load(name, path))


def all_expectations() -> "list[Expectation]":
    """Return the rules of all benchmarks."""
    return [rule for name in _usable(expectations) for rule in expectations(name)]


def views() -> "dict[str, tuple[BenchmarkSpec | None, View]]":
    """Return the views by command name: those that every benchmark has, then those of each benchmark with its spec.

    If several benchmarks use a name, the first benchmark gets the name. The other views are named `BENCHMARK-NAME`.
    """
    common: tuple[View, ...] = load_object("memflow.benchmarks.common_views:VIEWS")
    views_by_command: dict[str, tuple[BenchmarkSpec | None, View]] = {
        view.name: (None, view) for view in common
    }
    for name, view in _items("views"):
        views_by_command[view.name if view.name not in views_by_command else f"{name}-{view.name}"] = (
            spec_of(name),
            view,
        )
    return views_by_command


def exports() -> "dict[str, dict[str, Export]]":
    """Return all exports by command name, then by the benchmarks that have this export."""
    return _by_command("exports")


def imports() -> "dict[str, dict[str, Import]]":
    """Return all imports by command name, then by the benchmarks that have this import."""
    return _by_command("imports")


def conversions() -> "dict[str, Conversion]":
    """Return the conversions of all benchmarks by command name. If several use a name, the first has it."""
    conversions_by_command: dict[str, Conversion] = {}
    for _, item in _items("conversions"):
        conversions_by_command.setdefault(item.name, item)
    return conversions_by_command


def own_files() -> "tuple[str, OwnFiles]":
    """Return the first benchmark with a format of own files, and the format. Raises BadSettings if there is none."""
    get = _loads("own_files")
    for name in _usable(get):
        if own_format := get(name):
            return name, own_format
    raise BadSettings("no installed benchmark has a format of own files. Reinstall memflow.")


def annotation_kinds(name: str) -> "Mapping[str, Kind]":
    """Return the kinds of items that people annotate in a benchmark's domains, by name; empty if it has none."""
    path = spec_of(name).annotation
    return _load(name, path) if path else {}


@cache
def protocol(name: str) -> BenchmarkProtocol:
    """Return the protocol of a benchmark. If the benchmark declares none, the protocol has no points."""
    path = spec_of(name).protocol
    declared: BenchmarkProtocol = _load(name, path) if path else BenchmarkProtocol()
    return declared


def shown_variants(domain: Domain) -> Mapping[str, str]:
    """Return the variant of a metric that summaries of a domain show, by metric, where it is not `standard`."""
    if domain.profile == DEFAULT_PROFILE:
        return {}
    return variants(protocol(domain.benchmark).points, domain.profile)


def problems(ours: bool = False) -> list[Unusable]:
    """Return the plug-ins whose code cannot be imported, with reasons. If `ours`, include memflow's own benchmarks."""
    catalog = installed()
    examined = [plugin for plugin in catalog.plugins.values() if ours or not plugin.ours]
    problems_of_code = [
        Unusable(plugin.spec.name, plugin.package, code_problem(plugin.spec)) for plugin in examined
    ]
    return [*catalog.unusable, *(problem for problem in problems_of_code if problem.reason)]


def _load(name: str, path: str) -> Any:
    """Load the object at an import path of a benchmark's spec. Raises BadSettings with the package and the reason."""
    try:
        return load_object(path)
    except NotLoadable as error:
        raise BadSettings(str(Unusable(name, installed().plugins[name].package, str(error)))) from error


def _loads(part: str) -> Callable[[str], Any]:
    return lambda name: _load(name, path) if (path := getattr(spec_of(name), part)) else ()


def _by_command(part: str) -> dict[str, dict[str, Any]]:
    """Return views, exports or imports (`part`) by command name; each command maps benchmarks to their item."""
    items: dict[str, dict[str, Any]] = {}
    for benchmark_name, item in _items(part):
        items.setdefault(item.name, {})[benchmark_name] = item
    return items


def _items(part: str) -> Iterator[tuple[str, Any]]:
    """Yield the views, exports or imports (`part`) of each benchmark, with the benchmark's name."""
    get = _loads(part)
    return ((name, item) for name in _usable(get) for item in get(name))


def _usable(get: Callable[[str], Any]) -> Iterable[str]:
    """Return the benchmarks for which `get` succeeds.

    Plug-ins that raise BadSettings are skipped. Errors in memflow's own benchmarks are raised.
    """
    names = []
    for name, plugin in installed().plugins.items():
        try:
            get(name)
        except BadSettings:
            if plugin.ours:
                raise
            continue
        names.append(name)
    return names
