"""The data file `papers`: the tables of the papers of the report's benchmarks, with values where the report has any."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from memflow.papers.cells import measure
from memflow.papers.files import papers, tables_of, view_records
from memflow.records import Score
from memflow.resources.lake_reader import LakeReader
from memflow.resources.report.source import LEADERBOARD, ReportSource


def papers_file(source: ReportSource) -> list[dict[str, Any]]:
    """Return one record per table of a paper. `rows` is empty without results; `command` runs the table."""
    shown = {(domain, name) for domain, names in source.assistants.items() for name in names}
    rows: list[Score] = source.lake.read_all(LEADERBOARD, source.lake.current_partitions(LEADERBOARD))
    scores = [score for score in rows if (score.domain, score.assistant) in shown]
    reader = LakeReader(source.settings, source.lake)
    names = {part for pair in shown for part in pair}

    @cache
    def records(view: str) -> Sequence[Mapping[str, Any]]:
        """Return the records of a view without those of a domain or an assistant that the report leaves out."""
        return [
            row
            for row in view_records(reader, view)
            if {row.get("domain"), row.get("assistant")} - {None} <= names
        ]

    benchmarks = {source.domain(name).benchmark for name in source.assistants}
    tables = []
    for table in (table for name in papers() if name in benchmarks for table in tables_of(name)):
        measured = measure(table, scores, records)
        tables.append(
            {
                "table": table.reference,
                "name": table.name,
                "title": table.table.title,
                "paper": table.paper.title,
                "source": table.paper.source,
                "command": table.command(measured.model),
                "unavailable": table.table.unavailable or None,
                "note": table.table.note or None,
                "model": measured.model or None,
                "models": list(table.models),
                "domains": measured.domains,
                "rows": [_row(source, row) for row in measured.rows] if measured.domains else [],
            }
        )
    return tables


def _row(source: ReportSource, row: Any) -> dict[str, Any]:
    cells = [cell.plain() for cell in row]
    for cell in cells:
        cell["marks"] = [source.redaction.statement(mark) for mark in cell["marks"]]
        cell["reason"] = source.redaction.statement(cell["reason"])
    return {"label": row[0].cell.row, "cells": cells}
