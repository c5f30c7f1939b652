"""Leaderboard rows over checkpoints from arrays of correct answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from factories import score

from memflow.metrics.continual import Summary, summary
from memflow.records import Score

SCORE = score(value=0.5, n=10, n_episodes=5, simulator="s", scripted=False)


def expected_accuracy(found: Summary) -> list[float]:
    """Return the accuracy per checkpoint: no-context accuracy + summed forward transfer - forgetting."""
    gained = np.cumsum(found.forward_transfer)
    return [found.accuracy[0] + gain - lost for gain, lost in zip(gained, found.forgetting, strict=True)]


def leaderboard_rows(
    answers: Mapping[str, Sequence[Sequence[int]]], half: float = 0.1, first: int = 0, **given: object
) -> list[Score]:
    """Return the rows of assistants (`memory` or `memory@model`), whose histories begin at checkpoint `first`.

    Every interval reaches `half` to either side of its value.
    """
    return [row for name, correct in answers.items() for row in _rows(name, correct, half, first, given)]


def _rows(
    name: str, correct: Sequence[Sequence[int]], half: float, first: int, given: Mapping[str, object]
) -> Iterator[Score]:
    found, last = summary(np.array(correct)), len(correct[0]) - 1
    memory, _, model = name.partition("@")
    like = replace(SCORE, assistant=name, memory=memory, model=model or "m", n=found.n, **given)

    def row(metric: str, value: float | None, at: int | None, variant: str = "standard") -> Score:
        slice_ = "all" if at is None else f"checkpoint {first + at}"
        ends = (None, None) if value is None else (value - half, value + half)
        return replace(
            like, metric=metric, variant=variant, slice=slice_, value=value, low=ends[0], high=ends[1]
        )

    yield row("guess", found.accuracy[0], None, "complete")
    for at in range(last + 1):
        yield row("accuracy", found.accuracy[at], at, "complete")
        yield row("accuracy", found.accuracy[at], at)
        yield row("constant", 0.3, at)
        yield row("random", 0.25, at)
        if at:
            yield row("forgetting", found.forgetting[at], at)
            yield row("forward_transfer", found.forward_transfer[at], at)
            yield row("backward_transfer", found.backward_transfer[at], at)
    yield row("all_correct", found.all_correct, None)
    yield row("all_wrong", found.all_wrong, None)
    yield row("flip_rate", found.flip_rate, None)
