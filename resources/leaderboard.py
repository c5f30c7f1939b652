"""The rows of score/leaderboard, from what the lake holds of every assistant in every domain.

How scores are computed does not belong here: each benchmark's figures, and memflow/scoring.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from memflow.benchmarks import registry
from memflow.benchmarks.api import AssistantResults
from memflow.records import Score, Verdict
from memflow.scoring.comparability import MeasuredSettings, compare_settings, evidence_scores
from memflow.scoring.continual import CheckpointSums, continual_scores
from memflow.scoring.efficiency import OperationSums, efficiency_scores
from memflow.scoring.groups import Group
from resources.lake import Facts, Lake
from resources.settings import Settings
from resources.warehouse import Warehouse


def leaderboard_rows(settings: Settings, lake: Lake, warehouse: Warehouse) -> list[Score]:
    """Return the figures of every assistant measured in every domain of the settings."""
    return [figure for name in settings.domains for figure in domain_scores(name, settings, lake, warehouse)]


def domain_scores(name: str, settings: Settings, lake: Lake, warehouse: Warehouse) -> list[Score]:
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
            verdicts[assistant] = (
                lake.read("score.verdicts", partition) if not benchmark.aggregates_in_sql else []
            )
            behind[assistant] = facts.meta
    groups = [] if not benchmark.aggregates_in_sql else _groups(name, warehouse, behind)
    operations = [OperationSums(**row) for row in warehouse.query("operations", domain=name)]
    probes = [probe for probe in lake.read("question.probes", name) if probe.split == "test"]
    followed = _followed(name, warehouse) if any(probe.question_id for probe in probes) else []
    slices = benchmark.slices(domain, probes)
    figures: list[Score] = []
    terms: dict[str, MeasuredSettings] = {}
    for assistant, rows in verdicts.items():
        memory, at, model = assistant.partition("@")
        bound = {other: verdicts.get(f"{other}{at}{model}", []) for other in ("oracle", "none")}
        measured = AssistantResults(
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
        where = f"{name}/{assistant}"
        measured = replace(measured, **_besides(lake, where, lake.facts("state.changes", name)))
        own = benchmark.scores(domain, measured)
        if own and lake.facts("score.attributions", where) is not None:
            own += evidence_scores(lake.read("score.attributions", where), own[0], domain.seed, slices)
        if own:
            took = [row for row in operations if row.assistant == assistant]
            own += efficiency_scores(took, probes, own[0], domain.seed, slices)
            answers = [row for row in followed if row.assistant == assistant]
            own += continual_scores(answers, own[0], domain.seed, none=f"none{at}{model}" in verdicts)
        figures += own
        k, budget = (int(behind[assistant].get(each, 0)) or None for each in ("k", "budget"))
        terms[assistant] = MeasuredSettings.of(lake.read("answer.replies", where), k, budget)
    return compare_settings(figures, terms)


def _followed(name: str, warehouse: Warehouse) -> list[CheckpointSums]:
    """The answers of one domain to the questions that are asked at several checkpoints, added up."""
    return [CheckpointSums(**row) for row in warehouse.query("continual", domain=name)]


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
