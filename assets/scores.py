"""score: replies under their metrics, and the leaderboard over everything."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import dagster as dg

from assets.automation import when_inputs_settle, when_scores_settle
from assets.partitions import Partitions, parts, place
from assets.recipes import PLAYED, STATES, Recipes
from assets.report import described, report
from assets.step import account, keep, probes_of, states_of
from memflow.attribution import attribute
from memflow.benchmarks import registry
from memflow.benchmarks.benchmark import Measured
from memflow.board import Terms, evidence_figures, on_terms
from memflow.continual import Followed, continual_figures
from memflow.efficiency import Operations, efficiency_figures
from memflow.groups import Group
from memflow.records import Claim, Figure, Verdict
from memflow.transcripts import held_at, pasts_of
from resources.instruments import instruments
from resources.lake import Facts, Lake
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
        recipes: dg.ResourceParam[Recipes],
    ) -> dg.MaterializeResult:
        name, assistant = parts(context)
        domain = settings.domain(name)
        probes = probes_of(lake, name)
        replies = lake.read("answer.replies", place(name, assistant))
        benchmark = registry.benchmark(domain.benchmark)

        async def work(chats: Chats) -> list[Verdict]:
            judged = recipes.judge(name, "score.verdicts") is not None
            judge = await chats.role("judge") if judged else None
            there = instruments(settings, benchmark.instruments(domain), judge)
            return await benchmark.verdicts(domain, probes, replies, there)

        rows = models.run(account(context, "score"), work)
        recipe, behind = (
            recipes.assistant("score.verdicts", name, assistant),
            recipes.scored_by(domain, assistant),
        )
        return keep(context, lake, models, "score.verdicts", rows, recipe, behind)

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
        recipes: dg.ResourceParam[Recipes],
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
            return await benchmark.judged(domain, rows, held, await chats.role("judge"))

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
        recipes: dg.ResourceParam[Recipes],
    ) -> dg.MaterializeResult:
        rows = [figure for name in settings.domains for figure in figures_of(name, settings, lake, warehouse)]
        facts = lake.write("score.leaderboard", "all", rows, recipe=recipes.leaderboard())
        path = warehouse.publish()
        duckdb = dg.MetadataValue.path(str(path))
        return report("score.leaderboard", rows, facts.digest, duckdb=duckdb)

    return [verdicts, attributions, claims, leaderboard]


def figures_of(name: str, settings: Settings, lake: Lake, warehouse: Warehouse) -> list[Figure]:
    """The figures of every assistant measured in one domain, each beside the bounds of its own model, and on its terms.

    Verdicts on probes that have been made anew since are left out: they are of another domain by now.
    """
    domain = settings.domain(name)
    asked = lake.facts("question.probes", name)
    if asked is None:
        return []
    benchmark = registry.benchmark(domain.benchmark)
    verdicts: dict[str, list[Verdict]] = {}
    behind: dict[str, Mapping[str, str]] = {}
    for partition in lake.partitions("score.verdicts"):
        facts = lake.facts("score.verdicts", partition)
        of_domain, _, assistant = partition.partition("/")
        if of_domain == name and facts is not None and facts.meta.get("probes") == asked.digest:
            verdicts[assistant] = lake.read("score.verdicts", partition) if benchmark.counts_rows else []
            behind[assistant] = facts.meta
    groups = [] if benchmark.counts_rows else _groups(name, warehouse, behind)
    operations = [Operations(**row) for row in warehouse.query("operations", domain=name)]
    probes = probes_of(lake, name)
    followed = _followed(name, warehouse) if any(probe.question_id for probe in probes) else []
    slices = benchmark.parts(domain, probes)
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
            groups=[group for group in groups if group.assistant == assistant],
            pool=[
                group for group in groups if behind[group.assistant]["model"] == behind[assistant]["model"]
            ],
        )
        where = place(name, assistant)
        measured = replace(measured, **_besides(lake, where, lake.facts("state.changes", name)))
        own = benchmark.figures(domain, measured)
        if own and lake.facts("score.attributions", where) is not None:
            own += evidence_figures(lake.read("score.attributions", where), own[0], domain.seed, slices)
        if own:
            took = [row for row in operations if row.assistant == assistant]
            own += efficiency_figures(took, probes, own[0], domain.seed, slices)
            answers = [row for row in followed if row.assistant == assistant]
            own += continual_figures(answers, own[0], domain.seed, none=f"none{at}{model}" in verdicts)
        figures += own
        k, budget = (int(behind[assistant].get(each, 0)) or None for each in ("k", "budget"))
        terms[assistant] = Terms.of(lake.read("answer.replies", where), k, budget)
    return on_terms(figures, terms)


def _followed(name: str, warehouse: Warehouse) -> list[Followed]:
    """The answers of one domain to the questions that are asked at several checkpoints, added up."""
    return [Followed(**row) for row in warehouse.query("continual", domain=name)]


def _groups(name: str, warehouse: Warehouse, behind: Collection[str]) -> list[Group]:
    """The verdicts of one domain in groups, of the assistants in `behind`."""
    found = (Group(**row) for row in warehouse.query("verdict_groups", domain=name))
    return [group for group in found if group.assistant in behind]


def _besides(lake: Lake, where: str, states: Facts | None) -> dict[str, Any]:
    """What else there is of an assistant: claims on its memory, of today's states, and the steps of its evolution."""
    found: dict[str, Any] = {}
    claims = lake.facts("score.claims", where)
    if claims is not None and states is not None and claims.meta.get("states") == states.digest:
        found["claims"] = lake.read("score.claims", where)
        found["scripted_judge"] = claims.meta.get("scripted") == "yes"
    if lake.facts("memory.policies", where) is not None:
        found["policies"] = lake.read("memory.policies", where)
    return found
