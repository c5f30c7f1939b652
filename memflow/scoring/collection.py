"""The collection of metrics: the shared metrics, and those that entry points of the group `memflow.metrics` name.

catalog.py declares the shared metrics.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from types import MappingProxyType

from memflow.entry_points import is_ours, package_of
from memflow.errors import BadSettings
from memflow.scoring.metric import Metric


@dataclass(frozen=True)
class UnusableMetric:
    """A metric or entry point that cannot be used, its package, and the reason. `declared_by` is the entry point."""

    name: str
    package: str
    reason: str
    declared_by: str


@dataclass(frozen=True)
class Collected:
    """The usable metrics by name, and the metrics and entry points that cannot be used.

    `declared` has the metrics by entry point, `from_plugins` the names of metrics from packages other than memflow.
    """

    metrics: Mapping[str, Metric]
    declared: Mapping[str, tuple[Metric, ...]]
    from_plugins: tuple[str, ...]
    unusable: tuple[UnusableMetric, ...]


def collect(shared: Iterable[Metric], points: Iterable[EntryPoint]) -> Collected:
    """Return the shared metrics and the metrics of entry points.

    A metric is unusable if its name already has another definition. If several benchmarks declare the same metric, it
    is primary for each that declares it so. An entry point is unusable if it raises.
    """
    metrics = {metric.name: metric for metric in shared}
    owners = dict.fromkeys(metrics, "memflow")
    declared: dict[str, tuple[Metric, ...]] = {}
    unusable, from_plugins = [], []
    for point in points:
        try:
            declared[point.name] = _load(point)
        except BadSettings as error:
            unusable.append(UnusableMetric(point.name, package_of(point), str(error), point.name))
            continue
        is_plugin = not is_ours(point)
        for metric in declared[point.name]:
            if is_plugin and metric.name not in metrics:
                from_plugins.append(metric.name)
            definition = metrics.setdefault(metric.name, metric)
            owner = owners.setdefault(metric.name, point.name)
            if replace(definition, primary_for=frozenset()) != replace(metric, primary_for=frozenset()):
                reason = (
                    f"{owner} defines the metric {metric.name!r} differently; rename the metric, or use the existing "
                    "definition"
                )
                unusable.append(UnusableMetric(metric.name, package_of(point), reason, point.name))
                continue
            metrics[metric.name] = definition.primary_in(*metric.primary_for)
    return Collected(MappingProxyType(metrics), declared, tuple(from_plugins), tuple(unusable))


def _load(point: EntryPoint) -> tuple[Metric, ...]:
    """Return the metrics of an entry point. Raises BadSettings if it cannot be loaded or is not a Metric or several."""
    try:
        loaded = point.load()
        metrics = (loaded,) if isinstance(loaded, Metric) else tuple(loaded)
    except Exception as error:  # a plug-in may raise anything on import
        raise BadSettings(
            f"cannot load the metrics of {point.value}: {type(error).__name__}: {error}. Fix this module."
        ) from error
    for metric in metrics:
        if not isinstance(metric, Metric):
            raise BadSettings(
                f"{point.value} contains {metric!r}, which is not a Metric. Use a Metric or an iterable of Metric."
            )
    return metrics
