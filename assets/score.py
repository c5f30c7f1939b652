"""Stage `score`: verdicts, attributions, claims and health, one domain and assistant per partition.

leaderboard.py and drift.py have the scores over all partitions.
"""

import json
from collections.abc import Iterable
from typing import Any

import dagster as dg

from memflow.assets.automation import when_inputs_settle, when_models_change
from memflow.assets.evaluation_inputs import evaluation_inputs, judges_meta
from memflow.assets.metadata import report_link, score_metadata
from memflow.assets.step_assets import PartitionRun, StepAssets, upstream_of
from memflow.resources.publishing.completeness import all_gaps, assistant_gaps
from memflow.resources.publishing.health import stored_health
from memflow.resources.publishing.partition_scores import partition_scores
from memflow.resources.settings.protocol_values import protocol_meta
from memflow.scoring.completeness import gap_meta
from memflow.scoring.drift import INPUTS
from memflow.scoring.health.markdown import health_markdown

VERDICTS = "score.verdicts"
ATTRIBUTIONS = "score.attributions"
CLAIMS = "score.claims"
CALIBRATIONS = "score.calibrations"
HEALTH = "score.health"
RETRIEVAL = "score.retrieval"
RANKINGS = "score.rankings"


def build(factory: StepAssets) -> list[dg.AssetsDefinition]:
    """Return the assets of calibrations, verdicts, attributions, claims, health, retrieval and rankings.

    Nothing but their own jobs requests score/retrieval and score/rankings.
    """
    build_asset = factory.of_partitions
    return [
        build_asset(CALIBRATIONS, when_models_change),
        build_asset(
            VERDICTS, when_inputs_settle(upstream_of(VERDICTS)), stored=verdict_inputs, shown=shown_gaps
        ),
        build_asset(ATTRIBUTIONS, when_inputs_settle(upstream_of(ATTRIBUTIONS))),
        build_asset(CLAIMS, when_inputs_settle(upstream_of(CLAIMS)), stored=claim_judges),
        build_asset(HEALTH, when_inputs_settle(upstream_of(HEALTH)), shown=health_metadata),
        build_asset(RETRIEVAL, None, kinds=("lancedb", "parquet", "duckdb")),
        build_asset(RANKINGS, None, stored=ranking_gaps),
    ]


def verdict_inputs(run: PartitionRun, table: str, rows: Iterable[Any]) -> dict[str, str]:
    """Return what the verdicts depend on: missing data, the protocol, the inputs of the evaluation, and the judges."""
    inputs = evaluation_inputs(run.fingerprints, run.domain, run.assistant)
    return {
        **gap_meta(assistant_gaps(run.domain.name, run.assistant, run.lake)),
        **protocol_meta(table, run.settings, run.domain, run.assistant),
        INPUTS: json.dumps(inputs, ensure_ascii=False),
        **judges_meta(run.settings, run.domain, rows),
    }


def ranking_gaps(run: PartitionRun, table: str, rows: Iterable[Any]) -> dict[str, str]:
    """Return the data that the domain of the rankings lacks."""
    return gap_meta(all_gaps(run.lake.intact_facts("question.probes", run.domain.name), None))


def claim_judges(run: PartitionRun, table: str, rows: Iterable[Any]) -> dict[str, str]:
    """Return the judges of the claims."""
    return judges_meta(run.settings, run.domain, rows)


def shown_gaps(run: PartitionRun, table: str) -> dict[str, Any]:
    """Return what is missing in the assistant's results, and the address of its page in the report."""
    facts = run.lake.intact_facts
    gaps = gap_meta(all_gaps(facts("question.probes", run.domain.name), facts(table, run.key)))
    link = report_link(run.settings.home, "probes", domain=run.domain.name, assistant=run.assistant)
    return {**gaps, **link}


def health_metadata(run: PartitionRun, table: str) -> dict[str, Any]:
    """Return the state of the memory, and its primary scores, because those of a faulty memory have no value."""
    name, assistant = run.domain.name, run.assistant
    health = stored_health(run.lake, name, assistant)
    if health is None:
        return {}
    return {
        "health": health.state,
        "statement": health.statement,
        **score_metadata(partition_scores(run.domain, assistant, run.lake, run.warehouse)),
        **report_link(run.settings.home, "health", domain=name, assistant=assistant),
        "preview": dg.MetadataValue.md(health_markdown(run.lake.read(table, run.key))),
    }
