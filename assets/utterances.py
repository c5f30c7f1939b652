"""utterance: what an episode's stream holds before it is played."""

from collections.abc import Sequence

import dagster as dg

from assets.automation import when_models_change
from assets.fingerprints import STATES, Fingerprints
from assets.partitions import Partitions
from assets.report import described
from assets.step import Take, account, keep, records_of, states_of
from memflow.benchmarks import registry
from memflow.records import Turn
from resources.lake import Lake
from resources.models import Chats, Models
from resources.settings import Settings


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetsDefinition]:
    """The assets of this stage."""

    @dg.asset(
        **described("utterance.turns", "What it exposes is gold, and never reaches a memory."),
        deps=[
            dg.AssetDep(["raw", "records"], partition_mapping=partitions.dataset_to_domain),
            *(table.split(".") for table in STATES),
            ["simulator", "utterance"],
        ],
        partitions_def=partitions.domain,
        automation_condition=when_models_change,
        pool=f"model_{settings.roles.simulator}",
    )
    def turns(
        context: dg.AssetExecutionContext,
        config: Take,
        lake: dg.ResourceParam[Lake],
        models: dg.ResourceParam[Models],
        recipes: dg.ResourceParam[Fingerprints],
    ) -> dg.MaterializeResult:
        domain = settings.domain(context.partition_key).limited(config.limit)
        records = records_of(lake, domain)
        states = states_of(lake, domain.name)

        async def work(chats: Chats) -> list[Turn]:
            simulator = await chats.role("simulator")
            return await registry.benchmark(domain.benchmark).turns(domain, records, states, simulator)

        rows = models.run(account(context, "utterance"), work)
        return keep(context, lake, models, "utterance.turns", rows, recipes.domain("utterance.turns", domain))

    return [turns]
