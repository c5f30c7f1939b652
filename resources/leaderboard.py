"""The input rows of the leaderboard, read from the lake and the warehouse.

memflow/scoring computes the scores.
"""

from collections.abc import Collection
from typing import Any

from memflow.benchmarks import registry
from memflow.pipeline import WRITERS
from memflow.records import Score, Verdict
from memflow.scoring.continual import CheckpointSums
from memflow.scoring.efficiency import OperationSums
from memflow.scoring.groups import Group
from memflow.scoring.leaderboard import DomainRows, domain_scores
from resources.lake import Lake
from resources.settings import Settings
from resources.warehouse import Warehouse


def leaderboard_rows(settings: Settings, lake: Lake, warehouse: Warehouse) -> list[Score]:
    """Return the scores of every assistant in every domain of the settings."""
    former = former_partitions(settings, lake)
    return [
        score
        for name in settings.domains
        if name not in former
        for score in scores_of(name, settings, lake, warehouse, former)
    ]


def former_partitions(settings: Settings, lake: Lake) -> list[str]:
    """Return the partitions that are not scored because a former version of memflow wrote one of their tables."""
    return sorted(
        {
            partition
            for table in WRITERS["score.leaderboard"].inputs
            for partition in lake.partitions(table)
            if partition.partition("/")[0] in settings.domains and lake.is_former(table, partition)
        }
    )


def scores_of(
    name: str, settings: Settings, lake: Lake, warehouse: Warehouse, former: Collection[str] = ()
) -> list[Score]:
    """Return the scores of every assistant measured in one domain, without the partitions in `former`.

    Verdicts on probes that were regenerated later are ignored, and so are claims on former states.
    """
    domain = settings.domain(name)
    asked, states = lake.facts("question.probes", name), lake.facts("state.changes", name)
    if asked is None:
        return []
    benchmark = registry.benchmark(domain.benchmark)
    verdicts: dict[str, list[Verdict]] = {}
    meta = {}
    for partition in lake.partitions("score.verdicts"):
        if partition in former:
            continue
        facts = lake.facts("score.verdicts", partition)
        of_domain, _, assistant = partition.partition("/")
        if of_domain == name and facts is not None and facts.meta.get("probes") == asked.digest:
            rows = [] if benchmark.aggregates_in_sql else lake.read("score.verdicts", partition)
            verdicts[assistant], meta[assistant] = rows, facts.meta
    groups = warehouse.query("verdict_groups", domain=name) if benchmark.aggregates_in_sql else []
    probes = [probe for probe in lake.read("question.probes", name) if probe.split == "test"]
    has_checkpoints = any(probe.question_id for probe in probes)

    def current(table: str, assistant: str) -> bool:
        facts = lake.facts(table, f"{name}/{assistant}")
        if table == "score.claims":
            return facts is not None and states is not None and facts.meta.get("states") == states.digest
        return facts is not None

    def read(table: str, assistant: str) -> list[Any] | None:
        return lake.read(table, f"{name}/{assistant}") if current(table, assistant) else None

    def scripted_judge(assistant: str) -> bool:
        facts = lake.facts("score.claims", f"{name}/{assistant}")
        return (
            facts is not None and current("score.claims", assistant) and facts.meta.get("scripted") == "yes"
        )

    return domain_scores(
        benchmark,
        DomainRows(
            domain=domain,
            probes=probes,
            verdicts=verdicts,
            meta=meta,
            groups=[Group(**row) for row in groups if row["assistant"] in meta],
            operations=[OperationSums(**row) for row in warehouse.query("operations", domain=name)],
            checkpoints=[
                CheckpointSums(**row)
                for row in (warehouse.query("continual", domain=name) if has_checkpoints else [])
            ],
            read=read,
            scripted_judge=scripted_judge,
        ),
    )
