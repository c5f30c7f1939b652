"""The assets: one multi-asset per step of memflow/pipeline.py, with its keys, deps, pool and descriptions.

An asset's function runs the step, writes its rows and reports them. memflow/run/ contains the steps.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import dagster as dg
from pydantic import Field

from assets.automation import when_inputs_settle, when_models_change, when_scores_settle
from assets.fingerprints import ALL, Fingerprints
from assets.partitions import Partitions, parts
from assets.report import RowSummary, described, report, usage_of
from memflow.pipeline import STEPS, WRITERS, Step, partition_key
from memflow.run.recording import scripted_meta
from memflow.scoring.completeness import INCOMPLETE, gap_lines
from resources.completeness import all_gaps, stored_gaps
from resources.lake import FAILED_REQUESTS, RUN, Lake, rebuild_commands
from resources.lance import LanceIndex
from resources.leaderboard import CachedScores, former_partitions, leaderboard_rows
from resources.library import Library
from resources.models import Models
from resources.process import release_freed_memory
from resources.protocol_values import protocol_meta
from resources.row_groups import GROUP_ROWS
from resources.score_cache import NAME as SCORES
from resources.settings import Settings
from resources.steps import StepRunner
from resources.warehouse import Warehouse

UNFINISHED = "some requests failed"
"""Replaces a fingerprint where requests failed, so that the next run sends them again. Requests that would fail again
(refused or filtered by the model, longer than its context window) do not count."""
CONDITIONS = {
    "dataset": None,
    "domain": when_models_change,
    "domain x assistant": when_inputs_settle,
    "all": when_scores_settle,
}
"""The automation condition of each scope."""


class SampleConfig(dg.Config):
    """The Dagster run configuration that limits the size of a domain's sample."""

    limit: int = Field(
        default=0,
        ge=0,
        description="How many users, test questions, trajectories, contexts or episodes to take; 0 takes all.",
    )


def build(
    partitions: Partitions, settings: Settings, fingerprints: Fingerprints
) -> Sequence[dg.AssetsDefinition]:
    """Return the assets of every pipeline step, in the order of the pipeline."""
    return [_assets(step, partitions, settings, fingerprints) for step in STEPS]


def model_keys(step: Step) -> list[list[str]]:
    """Return the asset keys of the observed models that a step depends on."""
    keys = {
        "simulator": ["simulator", step.stage],
        "annotator": ["model", "annotators"],
        "verifier": ["model", "annotators"],
        "assistant": ["model", "assistants"],
        "judge": ["model", "judge"],
    }
    found = [keys[role] for role in step.models if role in keys]
    return [key for number, key in enumerate(found) if key not in found[:number]]


def _assets(
    step: Step, partitions: Partitions, settings: Settings, fingerprints: Fingerprints
) -> dg.AssetsDefinition:
    limited = SampleConfig.to_fields_dict() if step.scope == "domain" else None

    @dg.multi_asset(
        name=step.name,
        description=step.description,
        specs=[
            dg.AssetSpec(
                **described(table, remark, kinds=_kinds(step)),
                deps=_deps(step, partitions),
                automation_condition=CONDITIONS[step.scope],
            )
            for table, remark in step.writes.items()
        ],
        partitions_def=partitions.of_scope(step.scope),
        pool=f"model_{dict(reversed(settings.roles.assigned()))[step.models[0]]}" if step.models else None,
        config_schema=limited,
    )
    def assets(
        context: dg.AssetExecutionContext,
        lake: dg.ResourceParam[Lake],
        data: dg.ResourceParam[Library],
        models: dg.ResourceParam[Models],
        index: dg.ResourceParam[LanceIndex],
        warehouse: dg.ResourceParam[Warehouse],
    ) -> Iterator[dg.MaterializeResult]:
        where, assistant = parts(context) if context.has_partition_key else (ALL, "")
        domain = None
        cached = CachedScores(settings.home / SCORES, fingerprints.scoring)
        runner = StepRunner(
            settings, lake, data, models, lambda: leaderboard_rows(settings, lake, warehouse, cached)
        )
        run_id = context.run.run_id
        if step.scope in ("dataset", "all"):
            tables = runner.run(step, run_id, dataset=where if step.scope == "dataset" else "")
            fingerprint = fingerprints.step(step, where)
            provenance = scripted_meta(tables["raw.records"]) if step.scope == "dataset" else {}
        else:
            domain = settings.domain(where)
            if step.scope == "domain":
                domain = domain.limited(context.op_execution_context.op_config["limit"])
            answers_too = context.job_def.has_node_named("replies")
            tables = runner.run(step, run_id, domain=domain, assistant=assistant, asks_early=answers_too)
            fingerprint = fingerprints.step(step, domain, assistant)
            provenance = fingerprints.provenance(step, domain, assistant)
        usage = usage_of(models.ledger, run_id, step.stage)
        unfinished = models.ledger.unfinished(run_id, step.stage)
        failed = {FAILED_REQUESTS: str(unfinished)} if unfinished else {}
        key = partition_key(where, assistant)
        summaries = {table: RowSummary() for table in step.writes}
        facts = {}
        for table, summary in summaries.items():
            gaps = stored_gaps(table, domain, assistant, lake, data) if domain else {}
            protocol = protocol_meta(table, settings, domain, assistant) if domain else {}
            facts[table] = lake.write(
                table,
                key,
                summary.observe(tables[table]),
                fingerprint=UNFINISHED if unfinished else fingerprint,
                meta={RUN: run_id, **provenance, **failed, **gaps, **protocol},
            )
        del tables
        if any(each.rows > GROUP_ROWS for each in facts.values()):
            release_freed_memory()
        more = _publish(step, key, settings, lake, index, warehouse)
        if step.scope == "dataset":
            published = data.dataset(where)
            more = {"licence": published.licence, "origin": published.origin}
        for table, written in facts.items():
            yield report(table, summaries[table], written.digest, usage, **more)

    return assets


def _publish(
    step: Step, key: str, settings: Settings, lake: Lake, index: LanceIndex, warehouse: Warehouse
) -> dict[str, Any]:
    """Write the outputs that other programs read: the search index of entries, and memflow.duckdb.

    Return metadata for Dagster: the path of memflow.duckdb, and which results are incomplete.
    """
    if "memory.indexes" in step.writes:
        domain, _, assistant = key.partition("/")
        index.rebuild(domain, assistant, partial(lake.batches, "memory.indexes", key))
    if "score.leaderboard" in step.writes:
        former = former_partitions(settings, warehouse.lake)
        left_out = {"former_partitions": "\n".join((*former, *rebuild_commands(former)))} if former else {}
        rows = lake.columns("score.leaderboard", key, ("domain", "assistant", INCOMPLETE))
        gaps = "\n".join(f"* {line}" for line in gap_lines(rows))
        incomplete = {INCOMPLETE: dg.MetadataValue.md(gaps)} if gaps else {}
        return {"duckdb": dg.MetadataValue.path(str(warehouse.publish())), **incomplete, **left_out}
    if {"question.probes", "score.verdicts"} & {*step.writes}:
        probes = lake.facts("question.probes", key.partition("/")[0])
        gap = all_gaps(probes, lake.facts("score.verdicts", key) if "/" in key else None)
        return {INCOMPLETE: gap} if gap else {}
    return {}


def _kinds(step: Step) -> tuple[str, ...]:
    """Return the Dagster kinds (storage labels) of a step's tables."""
    if step.scope == "dataset":
        return "file", "parquet"
    return ("lancedb", "parquet", "duckdb") if "memory.indexes" in step.writes else ("parquet", "duckdb")


def _deps(step: Step, partitions: Partitions) -> list[dg.AssetDep]:
    """Return the Dagster deps of a step: its input tables and models. Records are mapped from data sets to domains."""
    mappings = {
        table: partitions.dataset_to_domain if WRITERS[table].scope == "dataset" else None
        for table in step.inputs
    }
    tables = [dg.AssetDep(table.split("."), partition_mapping=mapping) for table, mapping in mappings.items()]
    return [*tables, *(dg.AssetDep(key) for key in model_keys(step))]
