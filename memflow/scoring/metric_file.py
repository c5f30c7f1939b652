"""Metrics from a TOML file in a package: one table per metric, by name."""

import math
import tomllib
from importlib.resources import files

from memflow.scoring.metric import Metric


def load_metrics(package: str, file: str = "metrics.toml") -> dict[str, Metric]:
    """Return the metrics of a file in a package by name, in order.

    The keys of a table are the fields of `Metric`, with `inf` and `-inf` for the ends of an unbounded range. With
    `primary = true` a metric is primary for the benchmark that has the package's name.
    """
    text = files(package).joinpath(file).read_text(encoding="utf-8")
    benchmark = package.rpartition(".")[2]
    metrics = {}
    for name, table in tomllib.loads(text).items():
        primary = frozenset({benchmark}) if table.pop("primary", False) else frozenset()
        unbounded = {end: None for end in ("low", "high") if math.isinf(table.get(end, 0.0))}
        graded = frozenset(table.pop("graded_variants", ()))
        metrics[name] = Metric(name, primary_for=primary, graded_variants=graded, **{**table, **unbounded})
    return metrics
