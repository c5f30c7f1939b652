"""question: what is right at the checkpoints, where somebody has to say so, and what is asked, with its gold."""

from collections.abc import Sequence

import dagster as dg

from assets.automation import when_models_change
from assets.fingerprints import STATES, Fingerprints
from assets.partitions import Partitions
from assets.report import described
from assets.step import Take, account, keep, records_of, states_of
from memflow.benchmarks import registry
from memflow.benchmarks.api import Annotators
from memflow.records import GoldLabel, Probe
from resources.lake import Lake
from resources.models import Chats, Models
from resources.settings import Settings


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetsDefinition]:
    """The assets of this stage."""

    raw = dg.AssetDep(["raw", "records"], partition_mapping=partitions.dataset_to_domain)

    @dg.asset(
        **described(
            "question.keys", "Two models say what is right, or a rule; empty where gold needs neither."
        ),
        deps=[raw, ["utterance", "turns"], ["model", "annotators"]],
        partitions_def=partitions.domain,
        automation_condition=when_models_change,
        pool=f"model_{settings.roles.annotator}",
    )
    def keys(
        context: dg.AssetExecutionContext,
        config: Take,
        lake: dg.ResourceParam[Lake],
        models: dg.ResourceParam[Models],
        recipes: dg.ResourceParam[Fingerprints],
    ) -> dg.MaterializeResult:
        domain = settings.domain(context.partition_key).limited(config.limit)
        records, turns = records_of(lake, domain), lake.read("utterance.turns", domain.name)

        async def work(chats: Chats) -> list[GoldLabel]:
            annotators = None
            if recipes.annotators(domain) is not None:
                two = await chats.role("annotator"), await chats.role("verifier")
                annotators = Annotators(*two, chats.expect)
            return await registry.benchmark(domain.benchmark).gold_labels(domain, records, turns, annotators)

        rows = models.run(account(context, "question"), work)
        recipe, meta = recipes.domain("question.keys", domain), recipes.annotating(domain)
        return keep(context, lake, models, "question.keys", rows, recipe, meta)

    @dg.asset(
        **described("question.probes", "Gold and evidence never reach a memory, but for the oracle."),
        deps=[
            raw,
            *(table.split(".") for table in STATES),
            ["utterance", "turns"],
            ["question", "keys"],
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
        recipes: dg.ResourceParam[Fingerprints],
    ) -> dg.MaterializeResult:
        domain = settings.domain(context.partition_key).limited(config.limit)
        records = records_of(lake, domain)
        states = states_of(lake, domain.name)
        turns, keys = (lake.read(table, domain.name) for table in ("utterance.turns", "question.keys"))

        async def work(chats: Chats) -> list[Probe]:
            simulator = await chats.role("simulator")
            return await registry.benchmark(domain.benchmark).probes(
                domain, records, states, turns, simulator, keys
            )

        rows = models.run(account(context, "question"), work)
        return keep(context, lake, models, "question.probes", rows, recipes.domain("question.probes", domain))

    return [keys, probes]
