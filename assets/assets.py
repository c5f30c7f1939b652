"""The assets: one multi-asset per step of memflow/pipeline.py, with its keys, deps, pool and descriptions.

An asset's function runs the step, writes its rows and reports them. memflow/run/ contains the steps.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import dagster as dg

from assets.automation import (
    when_inputs_are_requested,
    when_inputs_settle,
    when_models_change,
    when_scores_settle,
)
from assets.evaluation_inputs import inputs_meta, judges_meta
from assets.fingerprints import ALL, Fingerprints
from assets.partitions import Partitions, parts
from assets.report import RowSummary, described, report, usage_of
from assets.server_metadata import check_meta, server_metadata
from assets.table_metadata import dataset_metadata, domain_metadata, summary_metadata
from memflow.pipeline import STEPS, WRITERS, Step, partition_key
from memflow.records import APPEND_ONLY
from memflow.run.recording import scripted_meta
from resources.data.library import Library
from resources.indexes.lance import LanceIndex
from resources.lake.facts import FAILED_REQUESTS, RUN, Facts
from resources.lake.lake import Lake
from resources.models.models import Models
from resources.process import release_after_growth
from resources.publishing.comparisons import comparison_rows
from resources.publishing.completeness import stored_gaps
from resources.publishing.drift import drift_table
from resources.publishing.leaderboard import CachedScores, leaderboard_rows
from resources.publishing.score_cache import NAME as SCORES
from resources.publishing.score_history import add_to_history, history_rows
from resources.publishing.warehouse import Warehouse
from resources.settings.protocol_values import protocol_meta
from resources.settings.settings import Settings
from resources.steps import StepRunner

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


def _condition(step: Step, table: str) -> dg.AutomationCondition | None:
    """Return the automation condition of a table: that of its scope, for the first table of a step only.

    The tables of a step have the same inputs, and Dagster requests all of them with the first, so that further
    conditions would only cost evaluation time.
    """
    if step.on_request or table != next(iter(step.writes)):
        return None
    within_run = step.scope == "all" and any(WRITERS[each].scope == "all" for each in step.inputs)
    return when_inputs_are_requested if within_run else CONDITIONS[step.scope]


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
    @dg.multi_asset(
        name=step.name,
        description=step.description,
        specs=[
            dg.AssetSpec(
                **described(table, remark, kinds=_kinds(step)),
                deps=_deps(step, partitions),
                automation_condition=_condition(step, table),
            )
            for table, remark in step.writes.items()
        ],
        partitions_def=partitions.of_scope(step.scope),
        pool=f"model_{dict(reversed(settings.roles.assigned()))[step.models[0]]}" if step.models else None,
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
        source = lake.listing_view() if step.scope == "all" else lake
        runner = StepRunner(
            settings,
            source,
            data,
            models,
            lambda: leaderboard_rows(settings, source, warehouse, cached),
            lambda: comparison_rows(settings, source, cached),
            partial(history_rows, settings, source),
            lambda: drift_table(settings, source),
        )
        run_id = context.run.run_id
        if step.scope in ("dataset", "all"):
            # Inputs that another run writes from here on make the rows stale, whether they are read or not.
            fingerprint = fingerprints.step(step, where)
            tables = runner.run(step, run_id, dataset=where if step.scope == "dataset" else "")
            provenance = scripted_meta(tables["raw.records"]) if step.scope == "dataset" else {}
        else:
            domain = settings.domain(where)
            answers_too = context.job_def.has_node_named("replies")
            tables = runner.run(step, run_id, domain=domain, assistant=assistant, asks_early=answers_too)
            fingerprint = fingerprints.step(step, domain, assistant)
            provenance = fingerprints.provenance(step, domain, assistant)
        usage = usage_of(models.ledger, run_id, step.stage)
        unfinished = models.ledger.unfinished(run_id, step.stage)
        failed = {FAILED_REQUESTS: str(unfinished)} if unfinished else {}
        key = partition_key(where, assistant)
        summaries = {table: RowSummary() for table in step.writes}
        facts: dict[str, Facts] = {}
        for table, summary in summaries.items():
            gaps = stored_gaps(table, domain, assistant, lake, data) if domain else {}
            protocol = protocol_meta(table, settings, domain, assistant) if domain else {}
            inputs = inputs_meta(table, fingerprints, domain, assistant) if domain else {}
            judges = judges_meta(table, fingerprints, domain, tables[table]) if domain else {}
            checked = check_meta(settings, assistant)
            meta = {RUN: run_id, **provenance, **failed, **gaps, **protocol, **inputs, **judges, **checked}
            stored_fingerprint = UNFINISHED if unfinished else fingerprint
            rows = summary.observe(tables[table])
            if table in APPEND_ONLY:
                facts[table] = add_to_history(
                    settings, lake, list(rows), fingerprint=stored_fingerprint, meta=meta
                )
            else:
                facts[table] = lake.write(table, key, rows, fingerprint=stored_fingerprint, meta=meta)
        del tables
        release_after_growth()
        published = _publish(step, key, index, warehouse, facts)
        common = published | server_metadata(step, models.servers)
        for table, written in facts.items():
            if domain is not None:
                own = domain_metadata(table, domain, assistant, settings, warehouse)
            elif step.scope == "dataset":
                own = dataset_metadata(data, where)
            else:
                own = summary_metadata(table, key, settings, lake)
            yield report(table, summaries[table], written.digest, usage, **common, **own)

    return assets


def _publish(
    step: Step, key: str, index: LanceIndex, warehouse: Warehouse, facts: Mapping[str, Facts]
) -> dict[str, Any]:
    """Write the outputs that other programs read: the search index of entries, and memflow.duckdb.

    Return the path of memflow.duckdb as metadata, if it was written.
    """
    if "memory.indexes" in step.writes:
        domain, _, assistant = key.partition("/")
        read = partial(warehouse.lake.batches, "memory.indexes", key)
        index.rebuild(domain, assistant, read, facts["memory.indexes"].content)
    if step.scope == "all":
        return {"duckdb": dg.MetadataValue.path(str(warehouse.publish()))}
    return {}


def _kinds(step: Step) -> tuple[str, ...]:
    """Return the Dagster kinds (storage labels) of a step's tables."""
    if step.scope == "dataset":
        return "file", "parquet"
    is_searched = {"memory.indexes", "score.retrieval"} & {*step.writes}
    return ("lancedb", "parquet", "duckdb") if is_searched else ("parquet", "duckdb")


def _deps(step: Step, partitions: Partitions) -> list[dg.AssetDep]:
    """Return the Dagster deps of a step: its input tables and models. Records are mapped from data sets to domains."""
    mappings = {
        table: partitions.dataset_to_domain if WRITERS[table].scope == "dataset" else None
        for table in step.inputs
    }
    tables = [dg.AssetDep(table.split("."), partition_mapping=mapping) for table, mapping in mappings.items()]
    return [*tables, *(dg.AssetDep(key) for key in model_keys(step))]
