"""The definitions of the project: memflow's pipeline for memflow.toml, and an asset of our own after it."""

import dagster as dg
import duckdb

from memflow.assets import definitions as pipeline
from memflow.resources.settings.settings import load

BEST = """
SELECT domain, assistant, value
FROM score.leaderboard
WHERE metric = 'accuracy' AND variant = 'standard' AND slice = 'all' AND memory NOT IN ('none', 'oracle')
QUALIFY value = max(value) OVER (PARTITION BY domain)
ORDER BY domain, assistant
"""


@dg.asset(deps=[["score", "leaderboard"]], group_name="own", kinds={"duckdb"})
def best_memories() -> dg.MaterializeResult:
    """The memories with the highest accuracy of each domain, without the bounds `none` and `oracle`."""
    with duckdb.connect(load().home / "memflow.duckdb", read_only=True) as tables:
        rows = tables.sql(BEST).fetchall()
    lines = [f"* {domain}: {assistant} ({value:.3f})" for domain, assistant, value in rows]
    return dg.MaterializeResult(
        metadata={"dagster/row_count": len(rows), "best": dg.MetadataValue.md("\n".join(lines))}
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Return memflow's definitions and ours. Add assets, checks, jobs and schedules of your own here."""
    return dg.Definitions.merge(pipeline.defs(), dg.Definitions(assets=[best_memories]))
