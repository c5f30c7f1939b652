"""The data files of a domain: its probes, its episodes, and its users, data sets, checks and quarantined rows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from memflow.benchmarks import registry
from memflow.checks.evaluation import RuleResult
from memflow.errors import MemflowError, MissingData
from memflow.records import KEYS, columns
from memflow.resources.publishing.completeness import all_gaps
from memflow.resources.report.episodes import EpisodeRows, EpisodeSummary
from memflow.resources.report.licenses import may_be_shared
from memflow.resources.report.schema import CHANGES, ENTITIES, PROBES, PROFILES, TURNS, VARIABLES
from memflow.resources.report.source import DOMAIN_TABLES, ReportSource
from memflow.resources.validation.checks import Scope, check_partition

QUARANTINED_ROWS = 500
"""Quarantined rows of a table that the report lists; `count` has the number of all."""
JSON_TEXTS = ("exposes", "attributes")
"""Columns that hold JSON, which the data files hold as values."""


def probes_file(source: ReportSource, domain: str, slices: Mapping[str, frozenset[str]]) -> dict[str, Any]:
    """Return a domain's test probes as `columns` and `rows`; the last column has numbers, from 0, of `slices`."""
    texts = source.options.texts
    numbers: dict[str, list[int]] = {}
    for number, members in enumerate(slices.values()):
        for probe in members:
            numbers.setdefault(probe, []).append(number)
    rows = []
    for batch in source.lake.batches("question.probes", domain):
        values = PROBES.values(batch, source.redaction, texts=texts)
        for row, split in zip(values, batch.column("split").to_pylist(), strict=True):
            if split == "test":
                rows.append([*row, numbers.get(row[0], [])])
    return {"columns": [*PROBES.titles, "slices"], "rows": rows}


class DomainEpisodes:
    """The stored states, messages and entities of a domain's episodes."""

    def __init__(self, source: ReportSource, domain: str) -> None:
        self._source = source
        self._rows = {
            each.table: EpisodeRows(
                source.lake, each.table, domain, "episode_id" if each is TURNS else "user_id"
            )
            for each in (PROFILES, VARIABLES, CHANGES, ENTITIES, TURNS)
        }

    def file(self, episodes: Sequence[str]) -> dict[str, Any]:
        """Return `profile`, `states`, `turns` (given messages) and `entities` of some episodes, by episode."""
        return {episode: self._episode(episode) for episode in episodes}

    def _episode(self, episode: str) -> dict[str, Any]:
        def rows(columns: Any) -> list[dict[str, Any]]:
            found = self._rows[columns.table].rows(
                columns, episode, self._source.redaction, texts=self._source.options.texts
            )
            for row in found:
                for name in JSON_TEXTS:
                    if isinstance(row.get(name), str):
                        row[name] = json.loads(row[name])
            return found

        changes: dict[str, list[dict[str, Any]]] = {}
        for change in rows(CHANGES):
            changes.setdefault(change.pop("variable"), []).append(change)
        return {
            "profile": next(iter(rows(PROFILES)), None),
            "states": [
                {**variable, "changes": changes.get(variable["variable"], [])} for variable in rows(VARIABLES)
            ],
            "turns": rows(TURNS),
            "entities": rows(ENTITIES),
        }


def domain_file(source: ReportSource, domain: str, episodes: Sequence[EpisodeSummary]) -> dict[str, Any]:
    """Return lists of a domain (`users`, `episodes`, `datasets`, ...), and the text `incomplete`, or None."""
    users = []
    if source.catalog.get("state.profiles", domain):
        for batch in source.lake.batches("state.profiles", domain):
            users += PROFILES.rows(batch, source.redaction, texts=source.options.texts)
    probes = source.catalog.get("question.probes", domain)
    return {
        "users": users,
        "episodes": [asdict(each) for each in episodes],
        "checks": [*_checks(source, domain)],
        "quarantined": [*_quarantined(source, domain)],
        "incomplete": source.redaction.text(all_gaps(probes.facts if probes else None, None)),
        "datasets": [
            {
                "name": each.name,
                "title": each.title,
                "licence": each.licence,
                "origin": None if each.own else each.origin,
                "may_be_shared": may_be_shared(each.licence),
            }
            for each in map(source.library.dataset, source.domain(domain).datasets)
        ],
    }


def domain_slices(source: ReportSource, domain: str) -> Mapping[str, frozenset[str]]:
    """Return the ids of the probes of each slice that the domain's benchmark declares, by slice."""
    of = source.domain(domain)
    return registry.benchmark(of.benchmark).slices(of, source.lake.read("question.probes", domain))


def _checks(source: ReportSource, domain: str) -> Iterator[dict[str, Any]]:
    """Yield the result of each rule of the domain's tables; one row with the error if a table cannot be checked."""
    for table in DOMAIN_TABLES:
        if source.catalog.get(table, domain) is None:
            continue
        try:
            scope = Scope.of(table, domain, source.settings)
            found = check_partition(table, domain, source.lake, scope)
        except MissingData as missing:
            yield _failed_check(table, source.redaction.text(str(missing)))
        except MemflowError as wrong:
            yield _failed_check(table, source.redaction.text(str(wrong)))
        else:
            yield from (_check(source, table, each) for each in found)


def _check(source: ReportSource, table: str, each: RuleResult) -> dict[str, Any]:
    return {
        "table": table,
        "severity": each.severity,
        "rule": each.name,
        "property": each.description,
        "rows": each.total,
        "unexpected": each.unexpected,
        "offending": [source.redaction.reason(key) for key in each.offending],
        "result": "error" if each.error else "passed" if each.passed else "failed",
        "note": source.redaction.reason(each.error or None) or each.note or None,
    }


def _failed_check(table: str, note: str | None) -> dict[str, Any]:
    return {"table": table, "severity": "error", "rule": None, "property": None, "rows": None} | {
        "unexpected": None,
        "offending": [],
        "result": "error",
        "note": note,
    }


def _quarantined(source: ReportSource, domain: str) -> Iterator[dict[str, Any]]:
    """Yield the first quarantined rows of each table of the domain, with the number of all."""
    for table in DOMAIN_TABLES:
        entry = source.catalog.get(table, domain)
        if entry is None or not entry.facts.quarantined:
            continue
        keys = [name for name in KEYS[table] if name != "domain"]
        assert any(column.name == "reason" for column in columns(table))
        listed = 0
        for *key, reason in source.lake.columns(table, domain, [*keys, "reason"]):
            if reason is not None and listed < QUARANTINED_ROWS:
                listed += 1
                yield {
                    "table": table,
                    "key": " ".join(map(str, key)),
                    "reason": source.redaction.reason(reason),
                    "count": entry.facts.quarantined,
                }
