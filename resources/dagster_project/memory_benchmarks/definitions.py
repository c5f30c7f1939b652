"""The definitions of the project: memflow's pipeline for memflow.toml, and an asset of our own after it."""

import dagster as dg
import duckdb

from memflow.assets import definitions as pipeline
from memflow.resources.settings.settings import load

BOUNDS = ("none", "oracle")
"""The memories between which every score lies."""


@dg.asset(deps=[["score", "leaderboard"]], group_name="own", kinds={"duckdb", "pandas"})
def best_memories() -> dg.MaterializeResult:
    """The memories with the highest accuracy of each domain."""
    with duckdb.connect(load().home / "memflow.duckdb", read_only=True) as tables:
        scores = tables.table("score.leaderboard").df()
    scores = scores.query("metric == 'accuracy' and variant == 'standard' and slice == 'all'")
    scores = scores[~scores.memory.isin(BOUNDS)]
    best = scores[scores.value == scores.groupby("domain").value.transform("max")]
    lines = [f"* {row.domain}: {row.assistant} ({row.value:.3f})" for row in best.itertuples()]
    return dg.MaterializeResult(
        metadata={"dagster/row_count": len(best), "best": dg.MetadataValue.md("\n".join(lines))}
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Return memflow's definitions and ours. Add assets, checks, jobs and schedules of your own here."""
    return dg.Definitions.merge(pipeline.defs(), dg.Definitions(assets=[best_memories]))
