"""Leaderboard rows over checkpoints: from arrays of correct answers, or from verdicts through lake and SQL."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from factories import metric_context, score, verdict

from memflow.benchmarks.memorybench.selection import INDEPENDENT_CASES
from memflow.metrics.continual import Summary, summary
from memflow.records import Probe, Score, Verdict
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.warehouse import Warehouse
from memflow.scoring.continual import CheckpointSums, continual_scores

SCORE = score(value=0.5, n=10, n_episodes=5, simulator="s", scripted=False)

Answer = Callable[[Probe], float | None]


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


def followed(
    folder: Path, domain: str, probes: Sequence[Probe], answers: Mapping[str, Answer]
) -> dict[str, dict[tuple[str, str], Score]]:
    """Return the scores of each assistant by metric and slice; `answers` gives the value of its reply to a probe."""
    lake = Lake(folder / "lake")
    lake.write("question.probes", domain, probes, fingerprint="")
    for assistant, worth in answers.items():
        rows = [_verdict(domain, assistant, probe, worth(probe)) for probe in probes if probe.split == "test"]
        lake.write("score.verdicts", f"{domain}/{assistant}", rows, fingerprint="")
    added = [
        CheckpointSums(**row)
        for row in Warehouse(lake, folder / "memflow.duckdb").query("continual", domain=domain)
    ]
    return {
        assistant: {
            (each.metric, each.slice): each
            for each in continual_scores(
                [row for row in added if row.assistant == assistant],
                metric_context(domain=domain, independent=INDEPENDENT_CASES),
                none="none" in answers,
            )
        }
        for assistant in answers
    }


def curve(figures: Mapping[tuple[str, str], Score], metric: str) -> list[float | None]:
    """Return the values of a metric by checkpoint, rounded to 6 digits."""
    found = [(name, figure) for (each, name), figure in figures.items() if each == metric and name != "all"]
    ordered = sorted(found, key=lambda one: int(one[0].removeprefix("checkpoint ")))
    return [None if figure.value is None else round(figure.value, 6) for _, figure in ordered]


def _verdict(domain: str, assistant: str, probe: Probe, value: float | None) -> Verdict:
    of_probe = {
        name: getattr(probe, name) for name in ("probe_id", "episode_id", "checkpoint", "dataset", "metric")
    }
    reason = "no answer" if value is None else None
    return verdict(domain=domain, assistant=assistant, value=value, reason=reason, **of_probe)
