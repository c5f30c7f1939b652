"""Histories: the scores of one assistant over the checkpoints, read from the leaderboard.

continual.py computes these scores.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memflow.labels import score_label
from memflow.records import Score
from memflow.scoring.catalog import RANDOM
from memflow.scoring.continual import ACCURACY as ACCURATE
from memflow.scoring.continual import COMPLETE, FORGETTING, GUESS, OVER_ALL

START = (GUESS, COMPLETE)
"""The no-context accuracy, with which histories begin."""
ACCURACY = (ACCURATE, COMPLETE)
LEARNT, BACK = "forward_transfer", "backward_transfer"
FLOORS = {"constant": "constant answer", "random": RANDOM.title.lower()}
"""The bounds below accuracy, and their titles; the no-context accuracy is the start."""

_SLICE = re.compile(r"(?:checkpoint|period) (\d+)")


@dataclass(frozen=True)
class History:
    """One assistant's scores in one domain, by (metric, variant, checkpoint); checkpoint None: over all of them."""

    domain: str
    assistant: str
    memory: str
    model: str
    scores: Mapping[tuple[str, str, int | None], Score]

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """The numbers, in order, of the checkpoints after the start, at which forgetting is possible."""
        return tuple(
            sorted(number for metric, _, number in self.scores if metric == FORGETTING and number is not None)
        )

    @property
    def label(self) -> str | None:
        """The label of the scores (memflow/labels.py); None without one."""
        return score_label(self.scores.values())

    def accuracy(self, checkpoint: int | None) -> Score | None:
        """Return the accuracy at a checkpoint, or the no-context accuracy if `checkpoint` is None."""
        return self.scores.get((*START, None) if checkpoint is None else (*ACCURACY, checkpoint))

    def score(self, metric: str, checkpoint: int | None = None) -> Score | None:
        """Return the score of a metric at a checkpoint, or over all checkpoints if `checkpoint` is None."""
        return self.scores.get((metric, "standard", checkpoint))

    def floor(self, metric: str, checkpoint: int | None) -> float | None:
        """Return a guessing baseline (a metric in FLOORS) at a checkpoint; for None, before the first checkpoint."""
        number = self.checkpoints[0] - 1 if checkpoint is None else checkpoint
        score = self.score(metric, number)
        return None if score is None else score.value

    def at_floor(self, checkpoint: int | None) -> bool:
        """Return whether the interval of an accuracy contains or is below a guessing baseline, so it may be a guess."""
        score, no_context = self.accuracy(checkpoint), self.accuracy(None)
        values = [self.floor(metric, checkpoint) for metric in FLOORS]
        if checkpoint is not None and no_context is not None:
            values.append(no_context.value)
        baselines = [value for value in values if value is not None]
        return score is not None and score.low is not None and bool(baselines) and score.low <= max(baselines)

    def plain(self) -> list[dict[str, Any]]:
        """Return a row per score that the tables show; `checkpoint` is `start`, `all` or a number as text."""
        cells = [("accuracy", number, self.accuracy(number)) for number in (None, *self.checkpoints)]
        for metric in (FORGETTING, LEARNT, BACK):
            cells += [(metric, number, self.score(metric, number)) for number in self.checkpoints]
        cells += [(metric, None, self.score(metric)) for metric in OVER_ALL]
        for metric in FLOORS:
            cells += [(metric, number, self.score(metric, number)) for number in self.checkpoints]
        return [self._row(metric, number, score) for metric, number, score in cells if score is not None]

    def _row(self, metric: str, checkpoint: int | None, score: Score) -> dict[str, Any]:
        """Return a score as a row; the checkpoint is None for no-context accuracy and metrics over all checkpoints."""
        start = "start" if metric == "accuracy" and checkpoint is None else None
        return {
            "domain": self.domain,
            "assistant": self.assistant,
            "memory": self.memory,
            "model": self.model,
            "embedder": score.embedder,
            "scripted": score.scripted,
            "metric": metric,
            "checkpoint": start or ("all" if checkpoint is None else str(checkpoint)),
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "interval_reason": score.interval_reason,
            "n": score.n,
            "episodes": score.n_episodes,
            "coverage": score.coverage,
            "reason": score.reason,
        }


def histories(scores: Iterable[Score], order: Callable[[str], Any] = str) -> dict[str, list[History]]:
    """Return the histories by domain: grouped by model, `none` first, `previous` and `oracle` last.

    The others are sorted by `order`. Assistants and domains without scores over checkpoints are skipped.
    """
    by_assistant: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        by_assistant.setdefault((score.domain, score.assistant), []).append(score)
    histories: dict[str, list[History]] = {}
    for (domain, assistant), assistant_scores in by_assistant.items():
        history = History(
            domain,
            assistant,
            assistant_scores[0].memory,
            assistant_scores[0].model,
            _by_checkpoint(assistant_scores),
        )
        if history.checkpoints:
            histories.setdefault(domain, []).append(history)

    def sort_key(history: History) -> tuple[str, int, Any, str]:
        bound = {"none": 0, "previous": 2, "oracle": 3}.get(history.memory, 1)
        return history.model, bound, order(history.memory), history.assistant

    return {domain: sorted(domain_histories, key=sort_key) for domain, domain_histories in histories.items()}


def _by_checkpoint(scores: Sequence[Score]) -> dict[tuple[str, str, int | None], Score]:
    """Return the scores of checkpoints by (metric, variant, checkpoint), where None stands for all checkpoints."""
    scores_by_checkpoint: dict[tuple[str, str, int | None], Score] = {}
    for score in scores:
        match = _SLICE.fullmatch(score.slice)
        if match is not None:
            scores_by_checkpoint[score.metric, score.variant, int(match[1])] = score
        elif score.slice == "all":
            scores_by_checkpoint[score.metric, score.variant, None] = score
    return scores_by_checkpoint
