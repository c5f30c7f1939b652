"""The collection of metrics: shared ones, those of benchmarks, and those of installed packages.

The shared metrics are declared in catalog.py.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from types import MappingProxyType

from memflow.errors import BadSettings
from memflow.scoring.metric import Metric


@dataclass(frozen=True)
class UnusableMetric:
    """A metric or entry point that cannot be used: its name, its provider, and the reason."""

    name: str
    package: str
    reason: str


@dataclass(frozen=True)
class Collected:
    """All metrics found: usable metrics by name, names of metrics from entry points, and unusable metrics."""

    metrics: Mapping[str, Metric]
    outside: tuple[str, ...]
    unusable: tuple[UnusableMetric, ...]


def collect(
    shared: Iterable[Metric], declared: Mapping[str, Iterable[Metric]], points: Iterable[EntryPoint] = ()
) -> Collected:
    """Return the shared metrics, those of each benchmark, and those of entry points.

    A metric is unusable if its name already has another definition, and an entry point if it raises an exception.
    """
    found = {each.name: each for each in shared}
    owner = dict.fromkeys(found, "memflow")
    unusable, outside = [], []
    for benchmark, metrics in declared.items():
        for each in metrics:
            known = found.setdefault(each.name, each)
            first = owner.setdefault(each.name, benchmark)
            if replace(known, primary_for=frozenset()) != replace(each, primary_for=frozenset()):
                reason = (
                    f"{first} defines the metric {each.name!r} differently; rename the metric, or use "
                    "the existing definition"
                )
                unusable.append(UnusableMetric(each.name, benchmark, reason))
                continue
            found[each.name] = known.primary_in(*each.primary_for)
    for point in points:
        package = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown package"
        try:
            own = _resolve(point)
            clashes = sorted(each.name for each in own if each.name in found)
            if clashes:
                raise BadSettings(
                    f"the metric name {clashes[0]!r} is already used. Rename the metric of {package}."
                )
        except BadSettings as wrong:
            unusable.append(UnusableMetric(point.name, package, str(wrong)))
            continue
        found |= {each.name: each for each in own}
        outside += [each.name for each in own]
    return Collected(MappingProxyType(found), tuple(outside), tuple(unusable))


def _resolve(point: EntryPoint) -> list[Metric]:
    try:
        loaded = point.load()
        metrics = [loaded] if isinstance(loaded, Metric) else list(loaded)
    except Exception as wrong:  # an outside module may raise anything on import
        raise BadSettings(
            f"cannot load {point.value}: {type(wrong).__name__}: {wrong}. Fix this module."
        ) from wrong
    for each in metrics:
        if not isinstance(each, Metric):
            raise BadSettings(
                f"{point.value} contains {each!r}, which is not a Metric. Use a Metric or an iterable of "
                "Metric."
            )
    return metrics
