"""The metadata of all assets and checks.

`described` returns metadata known before a run (key, grain, columns, owners), `materialized` that of a run (rows,
content hash, preview, usage), `score_metadata` its scores, and `rule_table` the results of a check's rules.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import dagster as dg

from memflow.checks.evaluation import RuleResult
from memflow.checks.every_table import REASON_IS_NORMAL
from memflow.records import KEYS, TABLES, Score, columns
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.validation.gx import DATA_DOCS, SUITES, page_path
from memflow.scoring.markdown import markdown_table
from memflow.scoring.primary import score_numbers

OWNERS = ["team:memflow"]
PREVIEW_ROWS = 5
PREVIEW_CHARACTERS = 100
RULE_COLUMNS = dg.TableSchema(
    [
        dg.TableColumn("result", "string", "passed, failed, or error where the rule raised"),
        dg.TableColumn("table", "string", "table that the rule is a rule of"),
        dg.TableColumn("rule", "string", "name of the rule"),
        dg.TableColumn("property", "string", "the property that should hold"),
        dg.TableColumn("rows", "int", "rows that the rule counts"),
        dg.TableColumn("unexpected", "int", "rows that violate it"),
        dg.TableColumn("offending", "string", "keys of some rows that violate it, or what the rule raised"),
        dg.TableColumn("note", "string", "what the rule examined and could not examine"),
    ]
)


def described(table: str, more: str = "", kinds: Sequence[str] = ("parquet", "duckdb")) -> dict[str, Any]:
    """Return a table's keyword arguments for dg.AssetSpec. The description begins with the table's grain."""
    grain = (TABLES[table].__doc__ or "").strip()
    schema = dg.TableSchema(
        columns=[
            dg.TableColumn(
                column.name,
                column.type.__name__ if isinstance(column.type, type) else str(column.type),
                column.description,
                dg.TableColumnConstraints(nullable=column.nullable),
            )
            for column in columns(table)
        ]
    )
    return {
        "key": table.split("."),
        "group_name": table.split(".", maxsplit=1)[0],
        "description": f"{grain}\n\nKey: {', '.join(KEYS[table])}. {more}".strip(),
        "kinds": set(kinds),
        "owners": OWNERS,
        "metadata": {
            "dagster/column_schema": schema,
            "dagster/table_name": table,
            "dagster/storage_kind": "parquet",
        },
    }


@dataclass
class RowSummary:
    """A summary of a table's rows for its metadata: row count, rows with a reason, and the first rows."""

    rows: int = 0
    with_reason: int = 0
    first_reason: str = ""
    first: list[Any] = field(default_factory=list)

    def observe(self, rows: Iterable[Any]) -> Iterator[Any]:
        """Yield `rows` unchanged, and update the summary with each row."""
        for row in rows:
            self.rows += 1
            if len(self.first) < PREVIEW_ROWS:
                self.first.append(row)
            if getattr(row, "reason", None):
                self.with_reason += 1
                self.first_reason = self.first_reason or row.reason
            yield row


def materialized(
    table: str, summary: RowSummary, digest: str, usage: Mapping[str, float] | None = None, **more: Any
) -> dg.MaterializeResult:
    """Return the result of materializing a table; its data version is its content hash.

    The UI plots each number of `usage` over time; these numbers are omitted if the step sent no request.
    """
    numbers = usage if usage and any(usage.values()) else {}
    metadata: dict[str, Any] = {
        "dagster/partition_row_count": summary.rows,
        "content": digest,
        "without value" if table in REASON_IS_NORMAL else "quarantined": summary.with_reason,
        "preview": dg.MetadataValue.md(preview(summary.first)),
        **more,
        **{name: dg.MetadataValue.float(float(value)) for name, value in numbers.items()},
    }
    if summary.with_reason:
        metadata["first_reason"] = _cut(summary.first_reason, 500)
    return dg.MaterializeResult(
        asset_key=dg.AssetKey(table.split(".")), metadata=metadata, data_version=dg.DataVersion(digest)
    )


def rule_table(results: Mapping[str, Sequence[RuleResult]]) -> dg.TableMetadataValue:
    """Return the results of rules, by the table that they are rules of, as a table with failed rules first."""
    rows = [(table, result) for table, of_table in results.items() for result in of_table]
    return dg.MetadataValue.table(
        records=[
            dg.TableRecord(
                {
                    "result": "error" if result.error else "passed" if result.passed else "failed",
                    "table": table,
                    "rule": result.name,
                    "property": result.description,
                    "rows": result.total,
                    "unexpected": result.unexpected,
                    "offending": result.error or "; ".join(result.offending),
                    "note": result.note,
                }
            )
            for table, result in sorted(rows, key=lambda row: row[1].passed)
        ],
        schema=RULE_COLUMNS,
    )


def score_metadata(scores: Iterable[Score]) -> dict[str, Any]:
    """Return scores as numbers, which the UI plots: `accuracy` and its limits `accuracy low` and `accuracy high`."""
    return {name: dg.MetadataValue.float(number) for name, number in score_numbers(scores).items()}


def report_link(home: Path, page: str, **parameters: str) -> dict[str, Any]:
    """Return a page's address as the metadata `report`; empty if no report was written to the home folder."""
    index = home / "report" / "index.html"
    if not index.is_file():
        return {}
    query = f"?{urlencode(parameters)}" if parameters else ""
    return {"report": dg.MetadataValue.path(f"{index.as_uri()}#/{page}{query}")}


def data_docs_link(home: Path, table: str, partition: str) -> dict[str, Any]:
    """Return the address of a partition's page of Data Docs, which the table's checks write, as metadata.

    Empty for tables that Great Expectations does not validate.
    """
    if table not in SUITES:
        return {}
    return {"data docs": dg.MetadataValue.path(page_path(home / DATA_DOCS, table, partition).as_uri())}


def usage_of(ledger: SqlLedger, run: str, stage: str) -> dict[str, float]:
    """Return one stage's `requests`, `cache_hits`, `failed`, `cut`, tokens and `latency_s` in a run, by name."""
    rows = [row for row in ledger.usage(("stage",), runs=[run]) if row.by["stage"] == stage]
    names = (
        *("requests", "cache_hits", "failed", "cut"),
        *("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "latency_s"),
    )
    return {name: sum(float(getattr(row, name)) for row in rows) for name in names}


def preview(rows: Sequence[Any]) -> str:
    """Return the first rows as a Markdown table with truncated cells.

    Empty columns and the columns of the partition are omitted.
    """
    if not rows:
        return "no rows"
    shown = [asdict(row) for row in rows[:PREVIEW_ROWS]]
    filled = [name for name in shown[0] if name != "vector" and any(_cell(row[name]) for row in shown)]
    of_partition = {
        name for name in ("domain", "assistant") if len({getattr(row, name, None) for row in rows}) == 1
    }
    names = [name for name in filled if name not in of_partition]
    return markdown_table(names, [[_cell(row[name]) for name in names] for row in shown])


def _cell(value: Any) -> str:
    text = "" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return _cut(text, PREVIEW_CHARACTERS)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
