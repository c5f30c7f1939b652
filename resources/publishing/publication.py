"""The rows of a publication: the comparisons, the leaderboard and the history of all scores."""

from collections.abc import Callable

from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.comparisons import comparison_table
from memflow.resources.publishing.leaderboard import PublishedTable, leaderboard
from memflow.resources.publishing.score_history import history_rows
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import Settings
from memflow.scoring.comparisons import with_ranks
from memflow.scoring.noise import with_difference_noise

COMPARISONS, LEADERBOARD, HISTORY = "score.comparisons", "score.leaderboard", "score.history"


def publication(
    settings: Settings, lake: Lake, warehouse: Warehouse, run: str, code: Callable[[str], str]
) -> dict[str, PublishedTable]:
    """Return the tables that a run publishes, computed from the lake, by name.

    `code` returns the version of a benchmark's scoring code.
    """
    comparisons = comparison_table(settings, lake, code)
    board = leaderboard(settings, lake, warehouse, code)
    scores = with_ranks(board.rows, comparisons.rows)
    return {
        COMPARISONS: comparisons._replace(rows=with_difference_noise(comparisons.rows, scores)),
        LEADERBOARD: board._replace(rows=scores),
        HISTORY: PublishedTable(history_rows(settings, lake, run, scores)),
    }
