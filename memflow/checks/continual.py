"""What must hold of the leaderboard's figures of forgetting, transfer and stability: they belong together.

Each assistant's histories (memflow/scoring/continual.py) are of the same questions at every checkpoint: accuracy is
what was guessed and learnt less what was forgotten, and no figure can pass those that it is part of.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from memflow.checks.rules import Expectation, Together
from memflow.records import Score
from memflow.scoring.continual import ACCURACY, BY_CHECKPOINT, COMPLETE, GUESS, OVER_ALL

ROUNDING = 1e-9
Board = Mapping[tuple[str, str], float]
"""Of one assistant: metric and slice to its figure of complete histories."""
Places = Mapping[tuple[str, str], int]


def _boards(figures: Sequence[Score]) -> Iterator[tuple[Board, Places]]:
    """The figures of histories of every assistant in every domain that have a value, and where each stands."""
    values: dict[tuple[str, str], dict[tuple[str, str], float]] = defaultdict(dict)
    places: dict[tuple[str, str], dict[tuple[str, str], int]] = defaultdict(dict)
    for at, figure in enumerate(figures):
        wanted = COMPLETE if figure.metric in (ACCURACY, GUESS) else "standard"
        followed = figure.metric in (ACCURACY, GUESS, *BY_CHECKPOINT, *OVER_ALL)
        if followed and figure.variant == wanted and figure.value is not None:
            whose = figure.domain, figure.assistant
            values[whose][figure.metric, figure.slice] = figure.value
            places[whose][figure.metric, figure.slice] = at
    for whose, board in values.items():
        yield board, places[whose]


def _checkpoints(board: Board) -> list[str]:
    """The slices of the checkpoints at which something was told, in their order."""
    named = {name for metric, name in board if metric in BY_CHECKPOINT and name.startswith("checkpoint ")}
    return sorted(named, key=lambda name: int(name.partition(" ")[2]))


def _unbalanced(figures: Sequence[Score]) -> list[int]:
    """Accuracies of complete histories that are not what was guessed and learnt less what was forgotten, or for which
    one of these figures is lacking."""
    found = []
    for board, places in _boards(figures):
        guess = board.get((GUESS, "all"), math.nan)
        learnt, wanted = 0.0, {}
        for name in _checkpoints(board):
            learnt += board.get(("forward_transfer", name), math.nan)
            wanted[name] = guess + learnt - board.get(("forgetting", name), math.nan)
        for (metric, name), at in places.items():
            # A checkpoint at which nothing was told is the one that histories begin with.
            if metric == ACCURACY and not abs(wanted.get(name, guess) - board[metric, name]) <= ROUNDING:
                found.append(at)
    return sorted(found)


def _beyond(figures: Sequence[Score]) -> list[int]:
    """Figures of histories that pass what they are part of: what is forgotten was known, what is learnt is answered, no
    more is right or wrong throughout than at any checkpoint."""
    found = []
    for board, places in _boards(figures):
        known, at = board.get((GUESS, "all"), 1.0), _checkpoints(board)
        reached = [board[ACCURACY, name] for name in at if (ACCURACY, name) in board]
        bounds: dict[tuple[str, str], tuple[float, float]] = {
            ("all_correct", "all"): (0.0, min(reached, default=1.0)),
            ("all_wrong", "all"): (0.0, 1 - max(reached, default=0.0)),
            ("flip_rate", "all"): (0.0, 1.0),
        }
        for name in at:
            bounds["forgetting", name] = (0.0, known)
            bounds["forward_transfer", name] = (0.0, min(1 - known, board.get((ACCURACY, name), 1.0)))
            known += board.get(("forward_transfer", name), 0.0)
            if (ACCURACY, name) in board and (ACCURACY, at[-1]) in board:
                gained = board[ACCURACY, at[-1]] - board[ACCURACY, name]
                bounds["backward_transfer", name] = (gained, gained)
        for key, (low, high) in bounds.items():
            if key in board and not low - ROUNDING <= board[key] <= high + ROUNDING:
                found.append(places[key])
    return sorted(found)


EXPECTED = (
    Expectation(
        "score.leaderboard",
        "accuracy_is_what_was_guessed_and_learnt_less_what_was_forgotten",
        Together(_unbalanced),
    ),
    Expectation("score.leaderboard", "no_figure_of_a_history_passes_the_others", Together(_beyond)),
)
