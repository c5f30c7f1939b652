"""The catalog of metrics: shared metrics (declared here), and metrics of benchmarks and installed packages.

Sorting, range checks, plot labels and docs/metrics.md use the catalog. metric.py defines a metric and explains how to
add one.
"""

import inspect
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Protocol

from memflow.errors import BadInput
from memflow.records import BY_EVIDENCE
from memflow.scoring.collection import Collected, UnusableMetric, collect
from memflow.scoring.metric import Metric

ENTRY_POINTS = "memflow.metrics"
"""The entry point group of installed packages: each names a `Metric` or an iterable of them."""

_CHANGE: dict[str, Any] = {"group": "change", "counts": "questions", "source": "CoMem, section 3.3"}
_FAILURE: dict[str, Any] = {
    "group": "failure",
    "source": "AMemGym, section 3.3",
    "proportion": True,
    "variants": {
        BY_EVIDENCE: "attributed by the messages that entries came from; it leads in all tables",
        "standard": "attributed by state probes, where a benchmark asks them; tables name it so",
    },
    "graded_variants": frozenset({BY_EVIDENCE}),
}
_CHANCE = frozenset({"chance_for_unparsed"})
_COMPLETE = {"complete": "of the questions with an answer at every checkpoint"}
_IN_ALL = {"in_all": "by all tokens said before the probe, not by those since its first evidence"}

ACCURACY = Metric(
    "accuracy",
    "Accuracy",
    "higher",
    "Share of the probes answered correctly.",
    proportion=True,
    graded_variants=_CHANCE,
    variants={
        **_COMPLETE,
        **_IN_ALL,
        "chance_for_unparsed": "an unparsed reply counts 1 / options",
        "published_code": "a judge reads the whole prompt as the question",
    },
)
RANDOM = Metric(
    "random",
    "Chance",
    "neither",
    "Mean accuracy of guessing: 1 / number of options.",
    group="bound",
    variants=_IN_ALL,
)
UPPER_BOUND = Metric(
    "upper_bound",
    "Upper bound",
    "neither",
    "Accuracy of the same model with the gold context: the memory `oracle`.",
    group="bound",
    proportion=True,
    graded_variants=_CHANCE,
    variants={"chance_for_unparsed": "an unparsed reply counts 1 / options"},
)
GUESS = Metric(
    "guess",
    "No-context accuracy",
    "neither",
    "Accuracy before anything was said: the start of every history.",
    group="bound",
    source="CoMem, section 3.3",
    proportion=True,
    variants=_COMPLETE,
)
UNPARSED = Metric(
    "unparsed",
    "Unparsed replies",
    "lower",
    "Share of the replies in which no answer could be read.",
    proportion=True,
)
CUT_REPLIES = Metric(
    "cut_replies",
    "Cut replies",
    "lower",
    "Share of the assistant's texts (answers, and replies in dialogues) that the token limit ended.",
    counts="replies",
    proportion=True,
)
FAILURES = tuple(
    Metric(f"{name}_failure", f"{name.capitalize()} failure", "lower", text, **_FAILURE)
    for name, text in (
        ("write", "Share of the probes lost because the evidence was never stored."),
        ("read", "Share of the probes lost because stored evidence was not recalled."),
        ("utilization", "Share of the probes lost although the evidence was recalled."),
    )
)
EVIDENCE = tuple(
    Metric(name, title, "higher", text, group="evidence", source=source)
    for name, title, text, source in (
        (
            "evidence_recall",
            "Evidence recall",
            "Share of a probe's evidence messages that recalled entries came from.",
            "",
        ),
        (
            "evidence_precision",
            "Evidence precision",
            "Share of the recalled entries that came from evidence messages.",
            "",
        ),
        (
            "recall_at_10",
            "Recall @10",
            "Share of the evidence that the ten best entries came from, before any token budget.",
            "MemBench, section 3.4",
        ),
    )
)
CHANGE = (
    Metric(
        *("forgetting", "Forgetting", "lower", "Mean drop from the best earlier answer."),
        proportion=True,
        **_CHANGE,
    ),
    Metric(
        *("forward_transfer", "Forward transfer", "higher", "Mean gain over the best earlier answer."),
        proportion=True,
        **_CHANGE,
    ),
    Metric(
        "backward_transfer",
        "Backward transfer",
        "higher",
        "Accuracy at the last checkpoint minus accuracy at this one.",
        low=-1.0,
        **_CHANGE,
    ),
    Metric(
        *("all_correct", "Always correct", "higher", "Share of the questions correct throughout."),
        proportion=True,
        **_CHANGE,
    ),
    Metric(
        *("all_wrong", "Always wrong", "lower", "Share of the questions wrong throughout."),
        proportion=True,
        **_CHANGE,
    ),
    Metric("flip_rate", "Flip rate", "lower", "Mean change from one checkpoint to the next.", **_CHANGE),
)
EFFICIENCY = tuple(
    Metric(
        f"{operation}_{what}",
        f"{operation.capitalize()} {what}",
        "lower",
        f"Mean {meaning} of a {operation} operation.",
        high=None,
        unit=unit,
        counts=f"{operation}s",
        group="efficiency",
        source="MemBench, section 3.4",
    )
    for what, unit, meaning in (
        ("time", "s", "seconds (models and the memory's own computing)"),
        ("calls", "calls", "chat completions"),
    )
    for operation in ("write", "read")
)
"""Metrics that measure a run; their rows are no part of the leaderboard's content hash."""
EFFICIENCY_NAMES = frozenset(each.name for each in EFFICIENCY)
SHARED: tuple[Metric, ...] = (
    *(ACCURACY, RANDOM, UPPER_BOUND, GUESS, UNPARSED, CUT_REPLIES),
    *(*FAILURES, *EVIDENCE, *CHANGE, *EFFICIENCY),
)
"""The metrics that every benchmark may have."""


_EVIDENCE_NAMES = frozenset(each.name for each in EVIDENCE)


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
    from memflow.benchmarks import registry  # noqa: PLC0415  (benchmarks declare metrics with this module)

    return collect(SHARED, registry.metrics(), entry_points(group=ENTRY_POINTS))


def catalog() -> Mapping[str, Metric]:
    """Return all metrics by name: shared metrics, metrics of benchmarks, and metrics of installed packages."""
    return _collected().metrics


def unusable_metrics() -> tuple[UnusableMetric, ...]:
    """Return the metrics and entry points that cannot be used, each with the reason."""
    return _collected().unusable


def plugin_metrics() -> list[tuple[dict[str, Any], str]]:
    """Return the catalog row and module source of each plug-in metric, for use in input fingerprints."""
    metrics = [catalog()[name] for name in _collected().from_plugins]
    modules = [each.value and inspect.getmodule(each.value) for each in metrics]
    return [
        (_row(each), inspect.getsource(module) if module else "")
        for each, module in zip(metrics, modules, strict=True)
    ]


def find_metric(name: str) -> Metric:
    """Return the metric with this name. A backend in brackets, as in `bertscore[roberta-base,L10]`, is ignored.

    Raises BadInput for a metric that is not in the catalog.
    """
    found = catalog().get(name.partition("[")[0])
    if found is None:
        raise BadInput(
            f"metric {name!r} is not in the catalog and cannot be published. Declare it in METRICS of "
            "its benchmark, or with an entry point of the group memflow.metrics."
        )
    return found


def in_range(name: str, value: float | None) -> bool:
    """Return whether a value is in the range of the metric with this name; False for an unknown metric."""
    found = catalog().get(name.partition("[")[0])
    return found is not None and found.contains(value)


def sort_key(name: str, value: float | None) -> float:
    """Return a number that sorts values of the metric best first; 0 for an unknown metric."""
    found = catalog().get(name.partition("[")[0])
    return 0.0 if found is None else found.sort_key(value)


def catalog_rows() -> list[dict[str, Any]]:
    """Return the rows of the table score.metrics, one per metric.

    `direction` is higher, lower or neither: which value is better. `low` and `high` are null where the range has no
    end.
    """
    return [_row(each) for each in catalog().values()]


def _row(metric: Metric) -> dict[str, Any]:
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


def markdown_table() -> str:
    """Return the metrics as a Markdown table: shared metrics first, then the metrics of benchmarks by name."""
    shared, plugins = [each.name for each in SHARED], _collected().from_plugins
    names = [*shared, *sorted(catalog().keys() - {*shared, *plugins})]
    rows = ["| metric | meaning | better | range | primary for | source |", "|---|---|---|---|---|---|"]
    for each in map(find_metric, names):
        low, high = ("" if end is None else f"{end:g}" for end in (each.low, each.high))
        span = f"{low or '-∞'} to {high or '∞'}{f' {each.unit}' if each.unit else ''}"
        meaning = each.description
        for variant, what in each.variants.items():
            meaning += f" `{variant}`: {what}."
        cells = (
            f"`{each.name}`",
            meaning,
            each.direction,
            span,
            ", ".join(sorted(each.primary_for)),
            each.source,
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)
