"""Metrics from a TOML file in a package: one table per metric, by name."""

import math
import tomllib
from importlib.resources import files
from typing import Any

from memflow.scoring.metric import Metric


def load_metrics(package: str, file: str = "metrics.toml") -> dict[str, Metric]:
    """Return the metrics of a file in a package by name, in order.

    The keys of a table are the fields of `Metric`, with `inf` and `-inf` for the ends of an unbounded range. With
    `primary = true` a metric is primary for the benchmark that has the package's name.
    """
    text = files(package).joinpath(file).read_text(encoding="utf-8")
    benchmark = package.rpartition(".")[2]
    return {name: _metric(name, table, benchmark) for name, table in tomllib.loads(text).items()}


def _metric(name: str, table: dict[str, Any], benchmark: str) -> Metric:
    primary = frozenset({benchmark}) if table.pop("primary", False) else frozenset()
    for end in ("low", "high"):
        if math.isinf(table.get(end, 0.0)):
            table[end] = None
    graded = frozenset(table.pop("graded_variants", ()))
    return Metric(name, primary_for=primary, graded_variants=graded, **table)
