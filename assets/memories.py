"""memory: episodes as they were played, and every entry that the memory ever held."""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from assets.automation import when_inputs_settle
from assets.partitions import Partitions, parts
from assets.recipes import PLAYED, STATES, Recipes
from assets.report import described
from assets.step import account, keep, states_of
from memflow.benchmarks import registry
from memflow.memories import registry as systems
from memflow.play import Played, play_all
from memflow.transcripts import entries_of, said_of
from resources.lake import Lake
from resources.lance import LanceIndex
from resources.models import Chats, Models
from resources.settings import Settings


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetsDefinition]:
    """The assets of this stage."""
    deps = [*(table.split(".") for table in STATES), ["utterance", "turns"], ["feedback", "sessions"]]

    @dg.multi_asset(
        name="memories",
        specs=[
            dg.AssetSpec(
                **described(table, more, kinds=("lancedb", "parquet", "duckdb")),
                deps=[*deps, ["simulator", "memory"], ["model", "assistants"]],
                automation_condition=when_inputs_settle,
            )
            for table, more in zip(
                PLAYED,
                ("Made by the player.", "As Parquet, and as a LanceDB table for search afterwards."),
                strict=True,
            )
        ],
        partitions_def=partitions.domain_assistant,
        pool=f"model_{settings.roles.assistant}",
    )
    def memories(
        context: dg.AssetExecutionContext,
        lake: dg.ResourceParam[Lake],
        index: dg.ResourceParam[LanceIndex],
        models: dg.ResourceParam[Models],
        recipes: dg.ResourceParam[Recipes],
    ) -> Iterator[dg.MaterializeResult]:
        name, assistant = parts(context)
        domain = settings.domain(name)
        benchmark = registry.benchmark(domain.benchmark)
        recipe = systems.find(assistant.partition("@")[0], settings.own_memories())
        states = states_of(lake, name)
        turns, feedback = (lake.read(table, name) for table in ("utterance.turns", "feedback.sessions"))

        async def work(chats: Chats) -> list[Played]:
            episodes = benchmark.episodes(domain, states, turns, feedback, await chats.role("simulator"))
            replier = benchmark.replier(domain, await chats.answering(assistant))
            lived = chats.expect(sum(len(episode.events) for episode in episodes))
            factory = recipe.remember(await chats.tools(assistant))
            return await play_all(episodes, factory, replier, lived=lived)

        played = models.run(account(context, "memory"), work) if recipe.system.plays else []
        entries = entries_of(name, assistant, played)
        index.rebuild(name, assistant, entries)
        tables: tuple[Sequence[Any], ...] = (said_of(name, assistant, played), entries)
        for table, rows in zip(PLAYED, tables, strict=True):
            made_from = recipes.assistant(table, name, assistant)
            yield keep(context, lake, models, table, rows, made_from, recipes.played_by(domain, assistant))

    return [memories]
