"""answer: every probe asked of the memory as it was at the probe's checkpoint."""

from collections.abc import Sequence
from time import perf_counter

import dagster as dg

from assets.automation import when_inputs_settle
from assets.fingerprints import PLAYED, Fingerprints
from assets.partitions import Partitions, parts, place
from assets.report import described
from assets.step import account, keep, probes_of
from memflow.benchmarks import registry
from memflow.records import Reply
from memflow.run.answer import answer_all
from memflow.run.transcripts import pasts_of
from resources.lake import Lake
from resources.models import Chats, Models
from resources.settings import Settings


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetsDefinition]:
    """The assets of this stage."""

    @dg.asset(
        **described(
            "answer.replies", "Asked without playing again: entries are restored as of the checkpoint."
        ),
        deps=[*(table.split(".") for table in PLAYED), ["question", "probes"], ["model", "assistants"]],
        partitions_def=partitions.domain_assistant,
        automation_condition=when_inputs_settle,
        pool=f"model_{settings.roles.assistant}",
    )
    def replies(
        context: dg.AssetExecutionContext,
        lake: dg.ResourceParam[Lake],
        models: dg.ResourceParam[Models],
        recipes: dg.ResourceParam[Fingerprints],
    ) -> dg.MaterializeResult:
        name, assistant = parts(context)
        domain = settings.domain(name)
        probes = probes_of(lake, name)
        said, entries = (lake.read(table, place(name, assistant)) for table in PLAYED)
        pasts = pasts_of(entries, said, probes)

        async def work(chats: Chats) -> list[Reply]:
            chat, tools = await chats.answering(assistant), await chats.tools(assistant)
            memory = settings.memory_of(assistant).factory(tools)
            benchmark = registry.benchmark(domain.benchmark)
            answered = chats.expect(len(probes))
            asked = (benchmark, domain, assistant, probes, pasts, memory, chat)
            return await answer_all(*asked, answered=answered, clock=perf_counter)

        rows = models.run(account(context, "answer"), work)
        recipe = recipes.assistant("answer.replies", name, assistant)
        return keep(context, lake, models, "answer.replies", rows, recipe)

    return [replies]
