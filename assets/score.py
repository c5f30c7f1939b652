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
    """Return what the verdicts depend on, by name: missing data, the protocol, the evaluation's inputs, the judges."""
    inputs = evaluation_inputs(run.fingerprints, run.domain, run.assistant)
    return {
        **gap_meta(assistant_gaps(run.domain.name, run.assistant, run.lake)),
        **protocol_meta(table, run.settings, run.domain, run.assistant),
        INPUTS: json.dumps(inputs, ensure_ascii=False),
        **judges_meta(run.settings, run.domain, rows),
    }


def ranking_gaps(run: PartitionRun, table: str, rows: Iterable[Any]) -> dict[str, str]:
    """Return what the domain of the rankings lacks, as `incomplete`; empty if nothing is missing."""
    return gap_meta(all_gaps(run.lake.intact_facts("question.probes", run.domain.name), None))


def claim_judges(run: PartitionRun, table: str, rows: Iterable[Any]) -> dict[str, str]:
    """Return the metadata on the judges of the claims (`judges_meta`); empty without judged claims."""
    return judges_meta(run.settings, run.domain, rows)


def shown_gaps(run: PartitionRun, table: str) -> dict[str, Any]:
    """Return what the results lack, as `incomplete`, and the page's address, as `report`; each only if there is one."""
    facts = run.lake.intact_facts
    gaps = gap_meta(all_gaps(facts("question.probes", run.domain.name), facts(table, run.key)))
    link = report_link(run.settings.home, "probes", domain=run.domain.name, assistant=run.assistant)
    return {**gaps, **link}


def health_metadata(run: PartitionRun, table: str) -> dict[str, Any]:
    """Return `health`, `statement`, `preview`, link `report` and primary scores; empty without a stored health."""
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
