"""The data file `site`: the domains, assistants and metrics of a report, and the names of its other files."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from memflow.benchmarks import registry
from memflow.labels import meta_label
from memflow.pipeline import partition_key
from memflow.records import Score
from memflow.resources.publishing.completeness import all_gaps
from memflow.resources.publishing.health import HEALTH, stored_health
from memflow.resources.report.folder import FORMAT
from memflow.resources.report.licenses import sharing_warnings
from memflow.resources.report.scores import metric_rows, ordered_metrics
from memflow.resources.report.source import ReportSource
from memflow.scoring.catalog import find_metric
from memflow.scoring.completeness import gap_lines
from memflow.scoring.failure_attributions import NAMES, contradictions
from memflow.scoring.judges import JUDGES
from memflow.scoring.published_health import ALARMS

TITLE = "memflow report"


def site_file(
    source: ReportSource, scores: Mapping[str, Any], slices: Mapping[str, Sequence[str]], files: Sequence[str]
) -> dict[str, Any]:
    """Return the site, without the time of its creation.

    `scores` is the data file of scores, and `slices` has the benchmark's slices by domain.
    """
    places = {name: place for place, name in enumerate(scores["columns"])}

    def column(name: str, domain: str) -> list[Any]:
        """Return the distinct values of a column of a domain's scores, in order."""
        rows = (row for row in scores["rows"] if row[places["domain"]] == domain)
        return [*dict.fromkeys(row[places[name]] for row in rows)]

    def failures(domain: str) -> list[Score]:
        rows = (dict(zip(places, row, strict=True)) for row in scores["rows"])
        return [Score(**row) for row in rows if row["domain"] == domain and row["metric"] in NAMES]

    domains = [
        {
            **_domain(source, name, column("metric", name), slices[name], column("slice", name)),
            "contradictions": contradictions(failures(name)),
        }
        for name in source.assistants
    ]
    assistants = _assistants(source)
    return {
        "format": FORMAT,
        "memflow": version("memflow-bench"),
        "title": TITLE,
        "as_of": source.options.as_of and source.options.as_of.isoformat(timespec="seconds"),
        "scripted": all(each["scripted"] for each in assistants),
        "label": meta_label(_metas(source)),
        "texts": source.options.texts,
        "warnings": report_warnings(source),
        "domains": domains,
        "assistants": assistants,
        "metrics": metric_rows({name for each in domains for name in each["metrics"]}),
        "files": list(files),
    }


def report_warnings(source: ReportSource) -> list[str]:
    """Return a warning for each data set of the report whose texts may not be passed on; none without texts."""
    if not source.options.texts:
        return []
    return sharing_warnings(
        source.library.dataset(name)
        for domain in source.assistants
        for name in source.domain(domain).datasets
    )


def _domain(
    source: ReportSource, name: str, metrics: Sequence[str], own: Sequence[str], scored: Sequence[str]
) -> dict[str, Any]:
    domain = source.domain(name)
    spec = registry.spec_of(domain.benchmark)
    probes = source.catalog.get("question.probes", name)
    verdicts = [
        source.catalog.get("score.verdicts", partition_key(name, each)) for each in source.assistants[name]
    ]
    gaps = gap_lines(
        (name, assistant, all_gaps(probes.facts if probes else None, each.facts if each else None))
        for assistant, each in zip(source.assistants[name], verdicts, strict=True)
    )
    judges = (name for each in verdicts if each for name in each.facts.meta.get(JUDGES, "").split("\n"))
    found = [*source.lake.columns("question.probes", name, ("language", "checkpoint", "split"))]
    asked = [(language, checkpoint) for language, checkpoint, split in found if split == "test"]
    return {
        "name": name,
        "title": domain.title,
        "benchmark": spec.title,
        "sample": {"limit": domain.limit, "size": _size(source, name)} if domain.limit else None,
        "incomplete": [source.redaction.text(line) for line in gaps],
        "assistants": list(source.assistants[name]),
        "scripted": [each for each in source.assistants[name] if _is_scripted(source, name, each)],
        "languages": sorted({language for language, _ in asked}),
        "unit": spec.unit,
        "probes": len(asked),
        "metrics": ordered_metrics(source.settings, name, metrics),
        "primary": [
            each
            for each in ordered_metrics(source.settings, name, metrics)
            if _is_primary(domain.benchmark, each)
        ],
        "checkpoints": sorted({checkpoint for _, checkpoint in asked}),
        "slices": [*own, *(each for each in scored if each not in own and each != "all")],
        "profile": domain.profile,
        "judges": sorted({*filter(None, judges)}),
        "health": _alarms(source, name),
    }


def _alarms(source: ReportSource, domain: str) -> dict[str, dict[str, str | None]]:
    """Return the state and the statement of the health of faulty and suspect assistants."""
    stored = {*source.lake.current_partitions(HEALTH)}
    names = [name for name in source.assistants[domain] if partition_key(domain, name) in stored]
    health = {name: stored_health(source.lake, domain, name) for name in names}
    return {
        name: {"state": each.state, "statement": source.redaction.statement(each.statement)}
        for name, each in health.items()
        if each is not None and each.state in ALARMS
    }


def _size(source: ReportSource, name: str) -> int | None:
    """Return how many units the whole domain of a sample has; None if its data sets are missing or it is unknown."""
    domain = source.domain(name)
    stored = {*source.lake.current_partitions("raw.records")}
    found = [each for each in domain.datasets if each in stored]
    records = source.lake.read_all("raw.records", found)
    return registry.benchmark(domain.benchmark).size(domain, records) if records else None


def _is_primary(benchmark: str, metric: str) -> bool:
    return benchmark in find_metric(metric).primary_for


def _assistants(source: ReportSource) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for domain, names in source.assistants.items():
        for name in names:
            row = found.setdefault(
                name,
                {
                    "name": name,
                    "memory": name.partition("@")[0],
                    "model": source.shown_model(_meta(source, domain, name).get("model", "")) or None,
                    "scripted": True,
                },
            )
            row["scripted"] = row["scripted"] and _is_scripted(source, domain, name)
    return list(found.values())


def _is_scripted(source: ReportSource, domain: str, assistant: str) -> bool:
    """Return whether a scripted chat contributed to an assistant's users or answers in a domain."""
    return _meta(source, domain, assistant).get("scripted") == "yes"


def _metas(source: ReportSource) -> list[Mapping[str, str]]:
    return [_meta(source, domain, name) for domain, names in source.assistants.items() for name in names]


def _meta(source: ReportSource, domain: str, assistant: str) -> Mapping[str, str]:
    entry = source.catalog.get("score.verdicts", partition_key(domain, assistant))
    return {} if entry is None else entry.facts.meta
