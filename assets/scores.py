"""score: replies under their metrics, and the leaderboard over everything."""

from collections.abc import Sequence

import dagster as dg

from assets.automation import when_inputs_settle, when_scores_settle
from assets.partitions import Partitions, parts, place
from assets.recipes import Recipes
from assets.report import described, report
from assets.step import keep
from memflow.benchmarks import registry
from memflow.benchmarks.benchmark import Measured
from memflow.records import Figure
from resources.lake import Lake
from resources.models import Models
from resources.settings import Settings
from resources.warehouse import Warehouse


def build(partitions: Partitions, settings: Settings) -> Sequence[dg.AssetsDefinition]:
    """The assets of this stage."""

    @dg.asset(
        **described("score.verdicts", "A value, or null with its reason: no score silently becomes 0."),
        deps=[["answer", "replies"], ["question", "probes"], ["model", "judge"]],
        partitions_def=partitions.domain_assistant,
        automation_condition=when_inputs_settle,
    )
    def verdicts(
        context: dg.AssetExecutionContext,
        lake: dg.ResourceParam[Lake],
        models: dg.ResourceParam[Models],
        recipes: dg.ResourceParam[Recipes],
    ) -> dg.MaterializeResult:
        name, assistant = parts(context)
        domain = settings.domain(name)
        probes = [probe for probe in lake.read("question.probes", name) if probe.split == "test"]
        replies = lake.read("answer.replies", place(name, assistant))
        rows = registry.benchmark(domain.benchmark).verdicts(domain, probes, replies)
        return keep(
            context,
            lake,
            models,
            "score.verdicts",
            rows,
            recipes.assistant("score.verdicts", name, assistant),
        )

    @dg.asset(
        **described("score.leaderboard", "Figures with their intervals, denominators and coverage."),
        deps=[
            ["score", "verdicts"],
            dg.AssetDep(["question", "probes"], partition_mapping=dg.AllPartitionMapping()),
        ],
        automation_condition=when_scores_settle,
    )
    def leaderboard(
        lake: dg.ResourceParam[Lake],
        warehouse: dg.ResourceParam[Warehouse],
        recipes: dg.ResourceParam[Recipes],
    ) -> dg.MaterializeResult:
        rows = [figure for name in settings.domains for figure in figures_of(name, settings, lake, recipes)]
        facts = lake.write("score.leaderboard", "all", rows, recipe=recipes.leaderboard())
        path = warehouse.publish()
        return report("score.leaderboard", rows, facts.digest, duckdb=dg.MetadataValue.path(str(path)))

    return [verdicts, leaderboard]


def figures_of(name: str, settings: Settings, lake: Lake, recipes: Recipes) -> list[Figure]:
    """The figures of every assistant measured in one domain, each beside the bounds of its own model."""
    domain = settings.domain(name)
    benchmark = registry.benchmark(domain.benchmark)
    measured = {
        partition.partition("/")[2]: lake.read("score.verdicts", partition)
        for partition in lake.partitions("score.verdicts")
        if partition.partition("/")[0] == name
    }
    if not measured:
        return []
    probes = [probe for probe in lake.read("question.probes", name) if probe.split == "test"]
    figures: list[Figure] = []
    for assistant, rows in sorted(measured.items()):
        memory, _, model = assistant.partition("@")
        bound = {
            other: measured.get(f"{other}@{model}" if model else other, []) for other in ("oracle", "none")
        }
        roles = (settings.roles.simulator, settings.model_of(assistant))
        figures += benchmark.figures(
            domain,
            Measured(
                domain=name,
                assistant=assistant,
                memory=memory,
                model=settings.model_of(assistant),
                probes=probes,
                verdicts=rows,
                oracle=bound["oracle"],
                none=bound["none"],
                simulator=recipes.everyone(domain),
                scripted=any(settings.model(role).kind == "scripted" for role in roles),
            ),
        )
    return figures
