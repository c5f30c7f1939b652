"""The collection of metrics: shared metrics, metrics of benchmarks, and metrics of installed packages.

catalog.py declares the shared metrics.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from types import MappingProxyType

from memflow.errors import BadSettings
from memflow.scoring.metric import Metric


@dataclass(frozen=True)
class UnusableMetric:
    """A metric or entry point that cannot be used: its name, its package, and the reason."""

    name: str
    package: str
    reason: str


@dataclass(frozen=True)
class Collected:
    """The collected metrics: usable metrics by name, names of metrics from plug-ins, and unusable metrics."""

    metrics: Mapping[str, Metric]
    from_plugins: tuple[str, ...]
    unusable: tuple[UnusableMetric, ...]


def collect(
    shared: Iterable[Metric], declared: Mapping[str, Iterable[Metric]], points: Iterable[EntryPoint] = ()
) -> Collected:
    """Return the shared metrics, the metrics of each benchmark, and the metrics of entry points.

    A metric is unusable if its name already has another definition. An entry point is unusable if it raises.
    """
    found = {each.name: each for each in shared}
    owner = dict.fromkeys(found, "memflow")
    unusable, from_plugins = [], []
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
                    f"the metric name {clashes[0]!r} of {package} is already used. Rename this metric."
                )
        except BadSettings as wrong:
            unusable.append(UnusableMetric(point.name, package, str(wrong)))
            continue
        found |= {each.name: each for each in own}
        from_plugins += [each.name for each in own]
    return Collected(MappingProxyType(found), tuple(from_plugins), tuple(unusable))


def _resolve(point: EntryPoint) -> list[Metric]:
    try:
        loaded = point.load()
        metrics = [loaded] if isinstance(loaded, Metric) else list(loaded)
    except Exception as wrong:  # a plug-in may raise anything on import
        raise BadSettings(
            f"cannot load the metrics of {point.value}: {type(wrong).__name__}: {wrong}. Fix this module."
        ) from wrong
    for each in metrics:
        if not isinstance(each, Metric):
            raise BadSettings(
                f"{point.value} contains {each!r}, which is not a Metric. Use a Metric or an iterable of "
                "Metric."
            )
    return metrics
