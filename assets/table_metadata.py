"""The Dagster metadata of one materialized table beside its row count and usage: scores, previews, gaps, links.

assets.py yields it with the table; report.py has the metadata that all tables share.
"""

from typing import Any

import dagster as dg

from assets.report import report_link, score_metadata
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import spec_of
from memflow.scoring.comparison_table import comparison_markdown
from memflow.scoring.completeness import INCOMPLETE, gap_lines, sample_text
from memflow.scoring.drift_summary import last_drifts, markdown
from memflow.scoring.health.markdown import health_markdown
from memflow.scoring.markdown import leaderboard_markdown
from resources.data.library import Library
from resources.lake.lake import Lake
from resources.publishing.completeness import all_gaps
from resources.publishing.health import HEALTH, stored_health
from resources.publishing.partition_scores import partition_scores, published_primary_scores
from resources.publishing.warehouse import Warehouse
from resources.settings.settings import Settings


def dataset_metadata(data: Library, name: str) -> dict[str, Any]:
    """Return the license and the origin of a data set."""
    published = data.dataset(name)
    return {"licence": published.licence, "origin": published.origin}


def domain_metadata(
    table: str, domain: Domain, assistant: str, settings: Settings, warehouse: Warehouse
) -> dict[str, Any]:
    """Return the metadata of a table of a domain, or of a domain and an assistant.

    All tables state which sample they are of; probes and verdicts state missing data. The health of a memory states its
    primary scores as well, because the scores of a faulty memory have no value.
    """
    lake = warehouse.lake
    found: dict[str, Any] = {}
    if domain.limit:
        found["sample"] = sample_text(domain.limit, spec_of(domain.benchmark).unit, domain.base)
    if table == "question.probes":
        gap = all_gaps(lake.intact_facts(table, domain.name), None)
        found |= {INCOMPLETE: gap} if gap else {}
    if table == "score.verdicts":
        gap = all_gaps(
            lake.intact_facts("question.probes", domain.name),
            lake.intact_facts(table, f"{domain.name}/{assistant}"),
        )
        found |= {INCOMPLETE: gap} if gap else {}
        found |= report_link(settings.home, "probes", domain=domain.name, assistant=assistant)
    if table == HEALTH and (health := stored_health(lake, domain.name, assistant)) is not None:
        found |= {"health": health.state, "statement": health.statement}
        found |= score_metadata(partition_scores(domain, assistant, lake, warehouse))
        found |= report_link(settings.home, "health", domain=domain.name, assistant=assistant)
        rows = lake.read(table, f"{domain.name}/{assistant}")
        found |= {"preview": dg.MetadataValue.md(health_markdown(rows))}
    return found


def summary_metadata(table: str, key: str, settings: Settings, lake: Lake) -> dict[str, Any]:
    """Return the metadata of a table over all domains: a preview that reads as the result, and what is left out."""
    if table == "score.comparisons":
        return {"preview": dg.MetadataValue.md(comparison_markdown(lake.read(table, key)))}
    if table == "score.drift":
        drifts = last_drifts(lake.read(table, key))
        return {
            "preview": dg.MetadataValue.md(markdown(drifts)),
            "moved": sum(len(each.moved) for each in drifts),
            **report_link(settings.home, "drift"),
        }
    if table != "score.leaderboard":
        return {}
    gaps = "\n".join(
        f"* {line}" for line in gap_lines(lake.columns(table, key, ("domain", "assistant", INCOMPLETE)))
    )
    return {
        "preview": dg.MetadataValue.md(leaderboard_markdown(published_primary_scores(settings, lake))),
        **report_link(settings.home, "leaderboard"),
        **({INCOMPLETE: dg.MetadataValue.md(gaps)} if gaps else {}),
    }
