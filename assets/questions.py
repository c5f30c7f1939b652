"""question: what is asked at the checkpoints, with its gold."""

from collections.abc import Sequence

import dagster as dg

from assets.automation import when_models_change
from assets.partitions import Partitions
from assets.recipes import STATES, Recipes
from assets.report import described
from assets.step import Take, account, keep, records_of, states_of
from memflow.benchmarks import registry
from memflow.records import Probe
from resources.lake import Lake
from resources.models import Chats, Models
from resources.settings import Settings


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetsDefinition]:
    """The assets of this stage."""

    @dg.asset(
        **described("question.probes", "Gold and evidence never reach a memory, but for the oracle."),
        deps=[
            dg.AssetDep(["raw", "records"], partition_mapping=partitions.dataset_to_domain),
            *(table.split(".") for table in STATES),
            ["utterance", "turns"],
            ["simulator", "question"],
        ],
        partitions_def=partitions.domain,
        automation_condition=when_models_change,
        pool=f"model_{settings.roles.simulator}",
    )
    def probes(
        context: dg.AssetExecutionContext,
        config: Take,
        lake: dg.ResourceParam[Lake],
        models: dg.ResourceParam[Models],
        recipes: dg.ResourceParam[Recipes],
    ) -> dg.MaterializeResult:
        domain = settings.domain(context.partition_key).limited(config.limit)
        records = records_of(lake, domain)
        states, turns = states_of(lake, domain.name), lake.read("utterance.turns", domain.name)

        async def work(chats: Chats) -> list[Probe]:
            simulator = await chats.role("simulator")
            return await registry.benchmark(domain.benchmark).probes(
                domain, records, states, turns, simulator
            )

        rows = models.run(account(context, "question"), work)
        return keep(context, lake, models, "question.probes", rows, recipes.domain("question.probes", domain))

    return [probes]
