"""raw: published files, record by record, with where they came from."""

from collections.abc import Sequence

import dagster as dg

from assets.fingerprints import Fingerprints
from assets.partitions import Partitions
from assets.report import described, report
from memflow.benchmarks import registry
from memflow.run.recording import meta_of
from resources.lake import Lake
from resources.library import Library


def build(partitions: Partitions) -> Sequence[dg.AssetsDefinition]:
    """The assets of this stage."""

    @dg.asset(
        **described("raw.records", "Stale when the published file changes.", kinds=("file", "parquet")),
        partitions_def=partitions.dataset,
    )
    def records(
        context: dg.AssetExecutionContext,
        lake: dg.ResourceParam[Lake],
        library: dg.ResourceParam[Library],
        recipes: dg.ResourceParam[Fingerprints],
    ) -> dg.MaterializeResult:
        name = context.partition_key
        published = library.dataset(name)
        rows = registry.benchmark(published.benchmark).records(published, library.paths(published))
        facts = lake.write("raw.records", name, rows, recipe=recipes.raw(name), meta=meta_of(rows))
        return report("raw.records", rows, facts.digest, licence=published.licence, origin=published.origin)

    return [records]
