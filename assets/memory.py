"""Stage `memory`: every episode, played with an assistant's memory, one domain and assistant per partition.

`memory.indexes` has the entries of the memory. They are stored as Parquet, and as a LanceDB table for search.
"""

from collections.abc import Iterator
from functools import partial

import dagster as dg

from assets.automation import when_inputs_settle
from assets.step_assets import StepAssets, upstream_of
from memflow.pipeline import WRITERS
from resources.data.library import Library
from resources.indexes.lance import LanceIndex
from resources.lake.lake import Lake
from resources.models.models import Models
from resources.process import release_after_growth
from resources.publishing.warehouse import Warehouse

ENTRIES = "memory.indexes"


def build(factory: StepAssets) -> list[dg.AssetsDefinition]:
    """Return the assets memory/transcripts, memory/indexes, memory/policies and memory/feedback."""
    step = WRITERS[ENTRIES]

    @factory.multi_asset(
        step, when_inputs_settle(upstream_of(ENTRIES)), kinds=("lancedb", "parquet", "duckdb")
    )
    def memories(
        context: dg.AssetExecutionContext,
        lake: dg.ResourceParam[Lake],
        data: dg.ResourceParam[Library],
        models: dg.ResourceParam[Models],
        index: dg.ResourceParam[LanceIndex],
        warehouse: dg.ResourceParam[Warehouse],
    ) -> Iterator[dg.MaterializeResult]:
        run = factory.partition_run(step, context, lake, data, models, warehouse)
        written = run.write()
        release_after_growth()
        read = partial(lake.batches, ENTRIES, run.key)
        index.rebuild(run.domain.name, run.assistant, read, written[ENTRIES].facts.content)
        yield from run.results(written)

    return [memories]
