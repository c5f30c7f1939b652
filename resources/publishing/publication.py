"""The rows of a publication: the comparisons, the leaderboard and the history of all scores."""

from typing import Any

from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.comparisons import comparison_rows
from memflow.resources.publishing.leaderboard import CachedScores, leaderboard_rows
from memflow.resources.publishing.score_history import history_rows
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import Settings
from memflow.scoring.comparisons import with_ranks
from memflow.scoring.noise import with_difference_noise

COMPARISONS, LEADERBOARD, HISTORY = "score.comparisons", "score.leaderboard", "score.history"


def publication(
    settings: Settings, lake: Lake, warehouse: Warehouse, run: str, cached: CachedScores | None = None
) -> dict[str, list[Any]]:
    """Return the rows of the tables that a run publishes, computed from the lake, by table."""
    comparisons = comparison_rows(settings, lake, cached)
    scores = with_ranks(leaderboard_rows(settings, lake, warehouse, cached), comparisons)
    return {
        COMPARISONS: with_difference_noise(comparisons, scores),
        LEADERBOARD: scores,
        HISTORY: history_rows(settings, lake, run, scores),
    }
