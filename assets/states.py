"""state: the users' structured states, from the data set or by the simulator."""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from assets.automation import when_models_change
from assets.fingerprints import STATES, Fingerprints
from assets.partitions import Partitions
from assets.report import described
from assets.step import Take, account, keep, records_of
from memflow.benchmarks import registry
from memflow.benchmarks.api import States
from resources.lake import Lake
from resources.models import Chats, Models
from resources.settings import Settings


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetsDefinition]:
    """The assets of this stage."""
    raw = dg.AssetDep(["raw", "records"], partition_mapping=partitions.dataset_to_domain)

    @dg.multi_asset(
        name="states",
        specs=[
            dg.AssetSpec(
                **described(table, MADE),
                deps=[raw, ["simulator", "state"]],
                automation_condition=when_models_change,
            )
            for table in STATES
        ],
        partitions_def=partitions.domain,
        pool=f"model_{settings.roles.simulator}",
    )
    def states(
        context: dg.AssetExecutionContext,
        config: Take,
        lake: dg.ResourceParam[Lake],
        models: dg.ResourceParam[Models],
        recipes: dg.ResourceParam[Fingerprints],
    ) -> Iterator[dg.MaterializeResult]:
        domain = settings.domain(context.partition_key).limited(config.limit)
        records = records_of(lake, domain)

        async def work(chats: Chats) -> States:
            return await registry.benchmark(domain.benchmark).states(
                domain, records, await chats.role("simulator")
            )

        made = models.run(account(context, "state"), work)
        tables: tuple[Sequence[Any], ...] = (made.profiles, made.variables, made.changes, made.entities)
        for table, rows in zip(STATES, tables, strict=True):
            yield keep(context, lake, models, table, rows, recipes.domain(table, domain))

    return [states]


MADE = "Read from the data set where it publishes states; otherwise made by the simulator."
