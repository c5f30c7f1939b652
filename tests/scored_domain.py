"""The scores of a domain from rows in memory, without a lake and without caches."""

from memflow.benchmarks.api import Benchmark
from memflow.records import Score
from memflow.scoring.leaderboard import (
    AssistantScores,
    DomainRows,
    combine_scores,
    own_scores,
    populations_of,
    shared_scores,
)


def domain_scores(benchmark: Benchmark, rows: DomainRows) -> list[Score]:
    """Return the scores of every assistant in a domain, each with the settings that differ between assistants.

    Raises the errors of `combine_scores`.
    """
    populations = populations_of(benchmark, rows.meta, rows.groups, rows.health)
    slices = benchmark.slices(rows.domain, rows.probes)
    return combine_scores(
        benchmark,
        {
            assistant: AssistantScores(
                own_scores(benchmark, rows, assistant, populations[meta["model"]]),
                *shared_scores(rows, assistant, slices),
            )
            for assistant, meta in rows.meta.items()
        },
        rows.health,
    )
