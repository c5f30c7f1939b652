"""The data files of scores: the leaderboard, comparisons, drift, history and health, as columns and rows."""

from collections.abc import Callable, Collection
from dataclasses import asdict
from typing import Any

from memflow.pipeline import partition_key
from memflow.records import TABLES, columns
from memflow.resources.publishing.headroom import stored_headroom
from memflow.resources.publishing.health import HEALTH
from memflow.resources.publishing.rankings import stored_retrieval
from memflow.resources.report.source import LEADERBOARD, ReportSource
from memflow.resources.settings.settings import Settings
from memflow.scoring.catalog import declared_metrics, find_metric
from memflow.scoring.headroom import AT

FILES = {
    "scores": LEADERBOARD,
    "comparisons": "score.comparisons",
    "drift": "score.drift",
    "history": "score.history",
    "health": HEALTH,
}
"""The table of each data file."""
REDACTED = (
    "reason",
    "health_reason",
    "statement",
    "incomplete",
    "differing_settings",
    "embedder",
    "imported",
)
"""Columns of memflow's own texts, which may name a file or an address."""


def score_file(source: ReportSource, name: str) -> dict[str, Any]:
    """Return `columns` and `rows` of a table of scores, with the domains and assistants that the report shows."""
    table = FILES[name]
    if table not in TABLES:
        return {"columns": [], "rows": []}
    names = [column.name for column in columns(table)]
    shown = _shown(source, table, names)
    rows: list[list[Any]] = []
    redacted = [names.index(each) for each in REDACTED if each in names]
    for partition in source.lake.current_partitions(table):
        for row in source.lake.columns(table, partition, names):
            if shown(row):
                values = list(row)
                for place in redacted:
                    values[place] = source.redaction.statement(values[place])
                rows.append(values)
    return {"columns": names, "rows": rows}


def headroom_file(source: ReportSource) -> dict[str, Any]:
    """Return `rows`, the headroom of the measured assistants, and `at`, the numbers of entries of its curves."""
    shown = {partition_key(domain, name) for domain, names in source.assistants.items() for name in names}
    rows = [row.values for row in stored_headroom(source.settings, source.lake, shown)]
    return {
        "at": list(AT),
        "rows": [{**row, "statement": source.redaction.statement(row["statement"])} for row in rows],
    }


def retrieval_file(source: ReportSource) -> list[dict[str, Any]]:
    """Return a record per domain and assistant: what it retrieves without a chat model, over all probes."""
    domains, assistants = source.options.domains, source.options.assistants
    return [
        {
            **asdict(row),
            "incomplete": source.redaction.text(row.incomplete),
            "embedder": source.redaction.text(row.embedder),
            "scores": [asdict(score) for score in row.scores if score.slice == "all"],
        }
        for row in stored_retrieval(source.settings, source.lake)
        if row.domain in (domains or [row.domain]) and row.assistant in (assistants or [row.assistant])
    ]


def metric_rows(names: Collection[str]) -> list[dict[str, Any]]:
    """Return title, meaning, direction, unit and range of metrics, sorted by name; None for what a metric lacks."""
    return [
        {
            "name": name,
            "title": metric.title,
            "description": metric.description,
            "direction": None if metric.direction == "neither" else metric.direction,
            "unit": metric.unit or None,
            "range": None if metric.low is None or metric.high is None else [metric.low, metric.high],
            "low": metric.low,
            "high": metric.high,
            "group": metric.group,
            "source": metric.source or None,
            "primary": bool(metric.primary_for),
            "percent": not metric.unit and (metric.low, metric.high) == (0.0, 1.0),
        }
        for name in sorted(names)
        for metric in [find_metric(name)]
    ]


def ordered_metrics(settings: Settings, domain: str, names: Collection[str]) -> list[str]:
    """Return the metrics of a domain's scores, the primary ones of its benchmark first."""
    benchmark = settings.domain(domain).benchmark
    places = {metric.name: place for place, metric in enumerate(declared_metrics(benchmark))}

    def key(name: str) -> tuple[bool, int, str]:
        return benchmark not in find_metric(name).primary_for, places.get(name, len(places)), name

    return sorted(names, key=key)


def _shown(source: ReportSource, table: str, names: list[str]) -> Callable[[tuple[Any, ...]], bool]:
    """Return a function that tells whether the report shows a row."""
    domain = names.index("domain")
    assistants = [names.index(name) for name in ("assistant", "a", "b") if name in names]
    history = table == "score.history"
    pairs = {(of, name) for of, named in source.assistants.items() for name in named}

    def shown(row: tuple[Any, ...]) -> bool:
        if history and (
            row[names.index("slice")] != "all"
            or source.settings.domain(row[domain]).benchmark
            not in find_metric(row[names.index("metric")]).primary_for
        ):
            return False
        return all((row[domain], row[place]) in pairs for place in assistants)

    return shown
