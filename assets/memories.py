"""memory: episodes as they were played, every entry that the memory ever held, how its policy evolved, and what users
made of the answers while it was played."""

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

import dagster as dg

from assets.automation import when_inputs_settle
from assets.fingerprints import MEMORY, STATES, Fingerprints
from assets.partitions import Partitions, parts
from assets.report import described
from assets.step import account, keep, states_of
from memflow.benchmarks import registry
from memflow.run.evolution import Environment, events, live
from memflow.run.play import Played
from memflow.run.transcripts import entries_of, policies_of, said_of
from resources.lake import Lake
from resources.lance import LanceIndex
from resources.models import Chats, Models
from resources.settings import Settings


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetsDefinition]:
    """The assets of this stage."""
    made_from = (*STATES, "utterance.turns", "feedback.sessions", "question.probes")
    deps = [table.split(".") for table in made_from]

    @dg.multi_asset(
        name="memories",
        specs=[
            dg.AssetSpec(
                **described(table, more, kinds=("lancedb", "parquet", "duckdb")),
                deps=[*deps, ["simulator", "memory"], ["model", "assistants"]],
                automation_condition=when_inputs_settle,
            )
            for table, more in zip(
                MEMORY,
                (
                    "Made by the player.",
                    "As Parquet, and as a LanceDB table for search afterwards.",
                    "Empty for a memory without a policy, and where a benchmark gives no feedback.",
                    "Empty but on-policy, where users react to what this assistant answers.",
                ),
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
        recipes: dg.ResourceParam[Fingerprints],
    ) -> Iterator[dg.MaterializeResult]:
        name, assistant = parts(context)
        domain = settings.domain(name)
        benchmark = registry.benchmark(domain.benchmark)
        recipe = settings.memory_of(assistant)
        states = states_of(lake, name)
        turns, feedback = (lake.read(table, name) for table in ("utterance.turns", "feedback.sessions"))
        probes = lake.read("question.probes", name) if recipes.plays_probes(domain, assistant) else []

        async def work(chats: Chats) -> list[Played]:
            simulator = await chats.role("simulator")
            episodes = benchmark.episodes(domain, states, turns, feedback, simulator, probes)
            answering, tools = await chats.answering(assistant), await chats.tools(assistant)
            lived = chats.expect(events(recipe, benchmark, episodes))
            world = Environment(benchmark, domain, assistant, answering, tools.chat, turns, probes)
            factory, replier = recipe.factory(tools), benchmark.replier(domain, answering)
            return await live(world, recipe, episodes, factory, replier, lived=lived, clock=perf_counter)

        played = models.run(account(context, "memory"), work) if recipe.system.needs_playing else []
        entries = entries_of(name, assistant, played)
        index.rebuild(name, assistant, entries)
        policies = policies_of(name, assistant, recipe.values, played)
        rounds = benchmark.rounds(domain, assistant, played)
        tables: tuple[Sequence[Any], ...] = (said_of(name, assistant, played), entries, policies, rounds)
        for table, rows in zip(MEMORY, tables, strict=True):
            made_from = recipes.assistant(table, name, assistant)
            yield keep(context, lake, models, table, rows, made_from, recipes.played_by(domain, assistant))

    return [memories]
