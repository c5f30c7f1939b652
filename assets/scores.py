"""score: replies under their metrics, and the leaderboard over everything."""

from collections.abc import Sequence

import dagster as dg

from assets.automation import when_inputs_settle, when_scores_settle
from assets.fingerprints import PLAYED, STATES, Fingerprints
from assets.partitions import Partitions, parts, place
from assets.report import described, report
from assets.step import account, keep, probes_of, states_of
from memflow.benchmarks import registry
from memflow.records import Claim, Verdict
from memflow.run.transcripts import held_at, pasts_of
from memflow.scoring.attribution import attribute
from resources.lake import Lake
from resources.leaderboard import leaderboard_rows
from resources.metric_backends import instruments
from resources.models import Chats, Models
from resources.settings import Settings
from resources.warehouse import Warehouse


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetsDefinition]:
    """The assets of this stage."""

    @dg.asset(
        **described("score.verdicts", "A value, or null with its reason: no score silently becomes 0."),
        deps=[["answer", "replies"], ["question", "probes"], ["model", "judge"]],
        partitions_def=partitions.domain_assistant,
        automation_condition=when_inputs_settle,
        pool=f"model_{settings.roles.judge}",
    )
    def verdicts(
        context: dg.AssetExecutionContext,
        lake: dg.ResourceParam[Lake],
        models: dg.ResourceParam[Models],
        recipes: dg.ResourceParam[Fingerprints],
    ) -> dg.MaterializeResult:
        name, assistant = parts(context)
        domain = settings.domain(name)
        probes = probes_of(lake, name)
        replies = lake.read("answer.replies", place(name, assistant))
        benchmark = registry.benchmark(domain.benchmark)

        async def work(chats: Chats) -> list[Verdict]:
            judged = recipes.judge(name, "score.verdicts") is not None
            judge = await chats.role("judge") if judged else None
            there = instruments(settings, benchmark.metric_backends(domain), judge)
            return await benchmark.verdicts(domain, probes, replies, there)

        rows = models.run(account(context, "score"), work)
        recipe, behind = (
            recipes.assistant("score.verdicts", name, assistant),
            recipes.scored_by(domain, assistant),
        )
        return keep(context, lake, models, "score.verdicts", rows, recipe, behind)

    @dg.asset(
        **described("score.attributions", "By the sources of entries; write + read + utilization = loss."),
        deps=[
            ["score", "verdicts"],
            ["answer", "replies"],
            *(table.split(".") for table in PLAYED),
            ["question", "probes"],
        ],
        partitions_def=partitions.domain_assistant,
        automation_condition=when_inputs_settle,
    )
    def attributions(
        context: dg.AssetExecutionContext,
        lake: dg.ResourceParam[Lake],
        models: dg.ResourceParam[Models],
        recipes: dg.ResourceParam[Fingerprints],
    ) -> dg.MaterializeResult:
        name, assistant = parts(context)
        said, entries, replies, verdicts = (
            lake.read(table, place(name, assistant), vectors=False)
            for table in (*PLAYED, "answer.replies", "score.verdicts")
        )
        rows = attribute(
            name,
            assistant,
            settings.memory_of(assistant).system,
            said=said,
            entries=entries,
            probes=probes_of(lake, name),
            replies=replies,
            verdicts=verdicts,
        )
        recipe = recipes.assistant("score.attributions", name, assistant)
        return keep(context, lake, models, "score.attributions", rows, recipe)

    @dg.asset(
        **described("score.claims", "Empty where nothing is claimed of users, and for the bounds."),
        deps=[
            *(table.split(".") for table in (*PLAYED, *STATES)),
            ["utterance", "turns"],
            ["model", "judge"],
        ],
        partitions_def=partitions.domain_assistant,
        automation_condition=when_inputs_settle,
        pool=f"model_{settings.roles.judge}",
    )
    def claims(
        context: dg.AssetExecutionContext,
        lake: dg.ResourceParam[Lake],
        models: dg.ResourceParam[Models],
        recipes: dg.ResourceParam[Fingerprints],
    ) -> dg.MaterializeResult:
        name, assistant = parts(context)
        domain = settings.domain(name)
        benchmark = registry.benchmark(domain.benchmark)
        system = settings.memory_of(assistant).system
        turns = lake.read("utterance.turns", name)
        rows = benchmark.claims(domain, assistant, states_of(lake, name), turns) if system.recalls else []
        said, entries = (lake.read(table, place(name, assistant), vectors=False) for table in PLAYED)
        held = held_at(pasts_of(entries, said, rows), rows, system.memory.bookkeeping)

        async def work(chats: Chats) -> list[Claim]:
            return await benchmark.judge_claims(domain, rows, held, await chats.role("judge"))

        rows = models.run(account(context, "score"), work) if rows else []
        recipe = recipes.assistant("score.claims", name, assistant)
        return keep(context, lake, models, "score.claims", rows, recipe, recipes.judging(name))

    @dg.asset(
        **described("score.leaderboard", "Figures with their intervals, denominators and coverage."),
        deps=[
            ["score", "verdicts"],
            ["score", "attributions"],
            ["score", "claims"],
            ["memory", "policies"],
            dg.AssetDep(["question", "probes"], partition_mapping=dg.AllPartitionMapping()),
        ],
        automation_condition=when_scores_settle,
    )
    def leaderboard(
        lake: dg.ResourceParam[Lake],
        warehouse: dg.ResourceParam[Warehouse],
        recipes: dg.ResourceParam[Fingerprints],
    ) -> dg.MaterializeResult:
        rows = leaderboard_rows(settings, lake, warehouse)
        facts = lake.write("score.leaderboard", "all", rows, recipe=recipes.leaderboard())
        path = warehouse.publish()
        duckdb = dg.MetadataValue.path(str(path))
        return report("score.leaderboard", rows, facts.digest, duckdb=duckdb)

    return [verdicts, attributions, claims, leaderboard]
