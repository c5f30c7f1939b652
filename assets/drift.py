"""The drift: how the scores of each assistant moved when models, prompts, parameters or code changed."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from memflow.assets.automation import when_inputs_are_requested
from memflow.assets.metadata import report_link
from memflow.assets.step_assets import StepAssets, write_table
from memflow.pipeline import WRITERS
from memflow.resources.lake.facts import RUN
from memflow.resources.lake.lake import Lake
from memflow.resources.process import release_after_growth
from memflow.resources.publishing.drift import ALL, DRIFT, drift_table
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import Settings
from memflow.scoring.drift_summary import last_drifts, markdown


def build(factory: StepAssets) -> list[dg.AssetsDefinition]:
    """Return the asset score/drift."""
    step, settings = WRITERS[DRIFT], factory.settings

    @factory.multi_asset(step, when_inputs_are_requested)
    def drift(
        context: dg.AssetExecutionContext,
        lake: dg.ResourceParam[Lake],
        warehouse: dg.ResourceParam[Warehouse],
    ) -> Iterator[dg.MaterializeResult]:
        # Partitions that another run writes from here on make the rows stale, whether they are read or not.
        fingerprint = factory.fingerprints.step(step)
        rows = drift_table(settings, lake)
        written = write_table(lake, DRIFT, ALL, rows, fingerprint, {RUN: context.run.run_id})
        release_after_growth()
        duckdb = dg.MetadataValue.path(str(warehouse.publish()))
        yield written.result(duckdb=duckdb, **_shown(settings, lake))

    return [drift]


def _shown(settings: Settings, lake: Lake) -> dict[str, Any]:
    """Return a preview that reads as the result, and the number of scores that moved."""
    drifts = last_drifts(lake.read(DRIFT, ALL))
    return {
        "preview": dg.MetadataValue.md(markdown(drifts)),
        "moved": sum(len(change.moved) for change in drifts),
        **report_link(settings.home, "drift"),
    }
