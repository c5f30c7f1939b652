"""score: replies under their metrics, and the leaderboard over everything."""

from collections.abc import Mapping, Sequence

import dagster as dg

from assets.automation import when_inputs_settle, when_scores_settle
from assets.partitions import Partitions, parts, place
from assets.recipes import PLAYED, Recipes
from assets.report import described, pictures, report
from assets.step import keep
from memflow.attribution import attribute
from memflow.benchmarks import registry
from memflow.benchmarks.benchmark import Measured
from memflow.board import Terms, evidence_figures, on_terms
from memflow.memories.registry import find
from memflow.records import Figure, Verdict
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
        recipe = recipes.assistant("score.verdicts", name, assistant)
        return keep(context, lake, models, "score.verdicts", rows, recipe, recipes.behind(domain, assistant))

    @dg.asset(
        **described("score.attributions", "By the sources of entries; write + read + utilisation = loss."),
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
        recipes: dg.ResourceParam[Recipes],
    ) -> dg.MaterializeResult:
        name, assistant = parts(context)
        said, entries, replies, verdicts = (
            lake.read(table, place(name, assistant))
            for table in (*PLAYED, "answer.replies", "score.verdicts")
        )
        rows = attribute(
            name,
            assistant,
            find(assistant.partition("@")[0], settings.own_memories()).system,
            said=said,
            entries=entries,
            probes=[probe for probe in lake.read("question.probes", name) if probe.split == "test"],
            replies=replies,
            verdicts=verdicts,
        )
        recipe = recipes.assistant("score.attributions", name, assistant)
        return keep(context, lake, models, "score.attributions", rows, recipe)

    @dg.asset(
        **described("score.leaderboard", "Figures with their intervals, denominators and coverage."),
        deps=[
            ["score", "verdicts"],
            ["score", "attributions"],
            dg.AssetDep(["question", "probes"], partition_mapping=dg.AllPartitionMapping()),
        ],
        automation_condition=when_scores_settle,
    )
    def leaderboard(
        lake: dg.ResourceParam[Lake],
        warehouse: dg.ResourceParam[Warehouse],
        recipes: dg.ResourceParam[Recipes],
    ) -> dg.MaterializeResult:
        rows = [figure for name in settings.domains for figure in figures_of(name, settings, lake)]
        facts = lake.write("score.leaderboard", "all", rows, recipe=recipes.leaderboard())
        path = warehouse.publish()
        duckdb = dg.MetadataValue.path(str(path))
        return report("score.leaderboard", rows, facts.digest, duckdb=duckdb, **pictures(rows))

    return [verdicts, attributions, leaderboard]


def figures_of(name: str, settings: Settings, lake: Lake) -> list[Figure]:
    """The figures of every assistant measured in one domain, each beside the bounds of its own model, and on its terms.

    Verdicts on probes that have been made anew since are left out: they are of another domain by now.
    """
    domain = settings.domain(name)
    asked = lake.facts("question.probes", name)
    if asked is None:
        return []
    verdicts: dict[str, list[Verdict]] = {}
    behind: dict[str, Mapping[str, str]] = {}
    for partition in lake.partitions("score.verdicts"):
        facts = lake.facts("score.verdicts", partition)
        of_domain, _, assistant = partition.partition("/")
        if of_domain == name and facts is not None and facts.meta.get("probes") == asked.digest:
            verdicts[assistant], behind[assistant] = lake.read("score.verdicts", partition), facts.meta
    probes = [probe for probe in lake.read("question.probes", name) if probe.split == "test"]
    figures: list[Figure] = []
    terms: dict[str, Terms] = {}
    for assistant, rows in verdicts.items():
        memory, at, model = assistant.partition("@")
        bound = {other: verdicts.get(f"{other}{at}{model}", []) for other in ("oracle", "none")}
        measured = Measured(
            domain=name,
            assistant=assistant,
            memory=memory,
            model=behind[assistant]["model"],
            probes=probes,
            verdicts=rows,
            oracle=bound["oracle"],
            none=bound["none"],
            simulator=behind[assistant]["simulator"],
            scripted=behind[assistant]["scripted"] == "yes",
        )
        own = registry.benchmark(domain.benchmark).figures(domain, measured)
        where = place(name, assistant)
        if own and lake.facts("score.attributions", where) is not None:
            own += evidence_figures(lake.read("score.attributions", where), own[0], domain.seed)
        figures += own
        k, budget = (int(behind[assistant].get(each, 0)) or None for each in ("k", "budget"))
        terms[assistant] = Terms.of(lake.read("answer.replies", where), k, budget)
    return on_terms(figures, terms)
