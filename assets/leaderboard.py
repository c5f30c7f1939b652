"""The scores of all assistants: comparisons, leaderboard and history, and memflow.duckdb, which publishes the lake."""

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg

from memflow.assets.automation import when_scores_settle
from memflow.assets.metadata import RowSummary, data_docs_link, report_link
from memflow.assets.step_assets import StepAssets, WrittenTable, upstream_of, write_table
from memflow.pipeline import WRITERS
from memflow.resources.lake.facts import RUN
from memflow.resources.lake.lake import Lake
from memflow.resources.process import release_after_growth
from memflow.resources.publishing.leaderboard import PublishedTable
from memflow.resources.publishing.partition_scores import published_primary_scores
from memflow.resources.publishing.publication import COMPARISONS, HISTORY, LEADERBOARD, publication
from memflow.resources.publishing.score_history import PARTITION, add_to_history
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import Settings
from memflow.scoring.completeness import INCOMPLETE, gap_lines
from memflow.scoring.markdown import leaderboard_markdown


def build(factory: StepAssets) -> list[dg.AssetsDefinition]:
    """Return the assets score/comparisons, score/leaderboard and score/history."""
    step, settings = WRITERS[LEADERBOARD], factory.settings

    @factory.multi_asset(step, when_scores_settle(upstream_of(COMPARISONS)))
    def leaderboard(
        context: dg.AssetExecutionContext,
        lake: dg.ResourceParam[Lake],
        warehouse: dg.ResourceParam[Warehouse],
    ) -> Iterator[dg.MaterializeResult]:
        # Partitions that another run writes from here on make the rows stale, whether they are read or not.
        fingerprint = factory.fingerprints.step(step)
        code, run = factory.fingerprints.scoring, context.run.run_id
        tables = publication(settings, lake, warehouse, run, code)
        written = _write(settings, lake, tables, fingerprint, run)
        release_after_growth()
        duckdb = dg.MetadataValue.path(str(warehouse.publish()))
        for table in written:
            yield table.result(duckdb=duckdb, **_shown(table.table, settings, lake))

    return [leaderboard]


def _write(
    settings: Settings, lake: Lake, tables: Mapping[str, PublishedTable], fingerprint: str, run: str
) -> list[WrittenTable]:
    """Write the tables of a publication. The history is last, because it depends on whose leaderboard is stored."""
    meta = {RUN: run}
    written = [
        write_table(lake, name, PARTITION, tables[name].rows, fingerprint, {**meta, **tables[name].meta})
        for name in (COMPARISONS, LEADERBOARD)
    ]
    summary = RowSummary()
    history = list(summary.observe(tables[HISTORY].rows))
    facts = add_to_history(settings, lake, history, fingerprint=fingerprint, meta=meta)
    return [*written, WrittenTable(HISTORY, facts, summary)]


def _shown(table: str, settings: Settings, lake: Lake) -> dict[str, Any]:
    """Return the first rows of the leaderboard as Markdown, with a line on the omitted rows, and links."""
    if table == COMPARISONS:
        return report_link(settings.home, "compare")
    if table == HISTORY:
        return {}
    gaps = gap_lines(lake.columns(table, PARTITION, ("domain", "assistant", INCOMPLETE)))
    text = "\n".join(f"* {line}" for line in gaps)
    return {
        "preview": dg.MetadataValue.md(leaderboard_markdown(published_primary_scores(settings, lake))),
        **report_link(settings.home, "leaderboard"),
        **data_docs_link(settings.home, table, PARTITION),
        **({INCOMPLETE: dg.MetadataValue.md(text)} if text else {}),
    }
