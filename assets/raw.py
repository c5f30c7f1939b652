"""Stage `raw`: the records of the published files, one data set per partition."""

from collections.abc import Iterator

import dagster as dg

from memflow.assets.metadata import data_docs_link
from memflow.assets.step_assets import StepAssets, write_table
from memflow.pipeline import WRITERS
from memflow.resources.data.library import Library
from memflow.resources.lake.facts import RUN
from memflow.resources.lake.lake import Lake
from memflow.resources.models.models import Models
from memflow.resources.steps import StepRunner
from memflow.run.recording import scripted_meta

TABLE = "raw.records"


def build(factory: StepAssets) -> list[dg.AssetsDefinition]:
    """Return the asset raw/records."""
    step = WRITERS[TABLE]

    @factory.multi_asset(step, kinds=("file", "parquet"))
    def records(
        context: dg.AssetExecutionContext,
        lake: dg.ResourceParam[Lake],
        data: dg.ResourceParam[Library],
        models: dg.ResourceParam[Models],
    ) -> Iterator[dg.MaterializeResult]:
        dataset, run_id = data.dataset(context.partition_key), context.run.run_id
        # Files that change from here on make the rows stale.
        fingerprint = factory.fingerprints.step(step, dataset.name)
        rows = StepRunner(factory.settings, lake, data, models).run(step, run_id, dataset=dataset.name)[TABLE]
        meta = {RUN: run_id, **scripted_meta(rows)}
        written = write_table(lake, TABLE, dataset.name, rows, fingerprint, meta)
        data_docs = data_docs_link(factory.settings.home, TABLE, dataset.name)
        yield written.result(licence=dataset.licence, origin=dataset.origin, **data_docs)

    return [records]
