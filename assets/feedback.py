"""feedback: off-policy feedback logs of the training cases."""

from collections.abc import Sequence

import dagster as dg

from assets.automation import when_models_change
from assets.fingerprints import Fingerprints
from assets.partitions import Partitions
from assets.report import described
from assets.step import Take, account, keep
from memflow.benchmarks import registry
from memflow.memories.memory import Tools
from memflow.records import FeedbackRound
from resources.lake import Lake
from resources.models import Chats, Models
from resources.settings import Settings


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetsDefinition]:
    """The assets of this stage."""

    @dg.asset(
        **described("feedback.sessions", "Empty for a benchmark that learns from no feedback."),
        deps=[["utterance", "turns"], ["question", "probes"], ["simulator", "feedback"]],
        partitions_def=partitions.domain,
        automation_condition=when_models_change,
        pool=f"model_{settings.roles.backbone}",
    )
    def sessions(
        context: dg.AssetExecutionContext,
        config: Take,
        lake: dg.ResourceParam[Lake],
        models: dg.ResourceParam[Models],
        recipes: dg.ResourceParam[Fingerprints],
    ) -> dg.MaterializeResult:
        domain = settings.domain(context.partition_key).limited(config.limit)
        turns, probes = (lake.read(table, domain.name) for table in ("utterance.turns", "question.probes"))

        async def work(chats: Chats) -> list[FeedbackRound]:
            backbone, simulator = await chats.role("backbone"), await chats.role("simulator")
            tools = Tools(backbone, await chats.embedder())
            return await registry.benchmark(domain.benchmark).feedback(
                domain, turns, probes, backbone, simulator, tools
            )

        rows = models.run(account(context, "feedback"), work)
        return keep(
            context, lake, models, "feedback.sessions", rows, recipes.domain("feedback.sessions", domain)
        )

    return [sessions]
