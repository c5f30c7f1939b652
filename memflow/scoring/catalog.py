"""The catalog of metrics: shared metrics (catalog.toml), and metrics that entry points name, ours too.

Sorting, range checks, plot labels and docs/metrics.md use the catalog. metric.py defines a metric and explains how to
add one.
"""

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

from memflow.entry_points import METRICS, installed
from memflow.errors import BadInput
from memflow.records import BY_EVIDENCE
from memflow.scoring.collection import Collected, UnusableMetric, collect
from memflow.scoring.metric import Metric
from memflow.scoring.metric_file import load_metrics

_SHARED = load_metrics("memflow.scoring", "catalog.toml")
SHARED: tuple[Metric, ...] = tuple(_SHARED.values())
"""The metrics that every benchmark may have, from catalog.toml."""
ACCURACY, RANDOM, UPPER_BOUND = _SHARED["accuracy"], _SHARED["random"], _SHARED["upper_bound"]
GUESS, CUT_REPLIES = _SHARED["guess"], _SHARED["cut_replies"]
FAILURES = tuple(metric for metric in SHARED if metric.group == "failure")
EVIDENCE = tuple(metric for metric in SHARED if metric.group == "evidence")
CHANGE = tuple(metric for metric in SHARED if metric.group == "change")
EFFICIENCY = tuple(metric for metric in SHARED if metric.group == "efficiency")
"""Metrics that measure a run; their rows are no part of the leaderboard's content hash."""
EFFICIENCY_NAMES = frozenset(metric.name for metric in EFFICIENCY)
_EVIDENCE_NAMES = frozenset(metric.name for metric in EVIDENCE)


class NamedScore(Protocol):
    """The protocol of a score row with the names of its metric and variant."""

    @property
    def metric(self) -> str: ...
    @property
    def variant(self) -> str: ...


def is_evidence_score(score: NamedScore) -> bool:
    """Return whether a score belongs to the attribution by evidence rather than to a benchmark's own metrics."""
    return score.variant == BY_EVIDENCE or score.metric in _EVIDENCE_NAMES


@cache
def _collected() -> Collected:
    return collect(SHARED, installed(METRICS))


def catalog() -> Mapping[str, Metric]:
    """Return all metrics by name: shared metrics, metrics of benchmarks, and metrics of installed packages."""
    return _collected().metrics


def declared_metrics(benchmark: str) -> tuple[Metric, ...]:
    """Return the metrics that a benchmark declares by the entry point with its name; empty without one."""
    return _collected().declared.get(benchmark, ())


def unusable_metrics() -> tuple[UnusableMetric, ...]:
    """Return the metrics and entry points that cannot be used, each with the reason."""
    return _collected().unusable


def plugin_metrics() -> list[tuple[dict[str, Any], str]]:
    """Return (catalog row, module source) per plug-in metric, for fingerprints; the source is empty without `value`."""
    metrics = [catalog()[name] for name in _collected().from_plugins]
    modules = [metric.value and inspect.getmodule(metric.value) for metric in metrics]
    return [
        (_row(metric), inspect.getsource(module) if module else "")
        for metric, module in zip(metrics, modules, strict=True)
    ]


def find_metric(name: str) -> Metric:
    """Return the metric with this name. A backend in brackets, as in `bertscore[roberta-base,L10]`, is ignored.

    Raises BadInput for a metric that is not in the catalog.
    """
    metric = catalog().get(name.partition("[")[0])
    if metric is None:
        raise BadInput(
            f"metric {name!r} is not in the catalog and cannot be published. Declare it with an entry point of "
            "the group memflow.metrics."
        )
    return metric


def in_range(name: str, value: float | None) -> bool:
    """Return whether a value is in the range of the metric with this name; False for an unknown metric."""
    metric = catalog().get(name.partition("[")[0])
    return metric is not None and metric.contains(value)


def sort_key(name: str, value: float | None) -> float:
    """Return a number that sorts values of the metric best first; 0 for an unknown metric."""
    metric = catalog().get(name.partition("[")[0])
    return 0.0 if metric is None else metric.sort_key(value)


def catalog_rows() -> list[dict[str, Any]]:
    """Return the rows of the table score.metrics, one per metric.

    `direction` is higher, lower or neither: which value is better. `low` and `high` are null where the range has no
    end.
    """
    return [_row(metric) for metric in catalog().values()]


def _row(metric: Metric) -> dict[str, Any]:
    """Return a metric as a row of the table score.metrics."""
    return {
        "metric": metric.name,
        "title": metric.title,
        "direction": metric.direction,
        "low": metric.low,
        "high": metric.high,
        "unit": metric.unit,
        "primary_for": sorted(metric.primary_for),
        "description": metric.description,
        "source": metric.source,
    }
