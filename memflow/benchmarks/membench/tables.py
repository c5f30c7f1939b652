"""Rows for MemBench's tables 3 to 5 (by memory level) and 10 to 12 (by question kind), from leaderboard scores.

paper.py has the published values; pictures.py draws charts of the rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.kinds import COLUMNS, LEVELS
from memflow.benchmarks.membench.paper import order
from memflow.labels import score_label
from memflow.records import Score

MEASURES = (
    "accuracy",
    "recall_at_10",
    "evidence_recall",
    "read_time",
    "write_time",
    "read_calls",
    "write_calls",
)
"""The metrics of a row: three shares, then seconds and chat requests per operation."""
CHANCE = "random"
LEVEL_SLICES = tuple(f"level {level}" for level in LEVELS)
KIND_SLICES = tuple(f"category {name}" for name in COLUMNS)
LONG = "_100k"
"""The suffix of data sets that are lengthened by noise."""
NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class TableRow:
    """The scores of an assistant in a slice of a domain, by metric."""

    domain: str
    slice: str
    assistant: str
    memory: str
    model: str
    scores: Mapping[str, Score]

    def value(self, metric: str) -> float | None:
        """Return the value of a metric, or None if the metric has no value."""
        score = self.scores.get(metric)
        return None if score is None else score.value

    def reason(self, metric: str) -> str | None:
        """Return the reason why a metric has no value, or None if the metric has a value."""
        score = self.scores.get(metric)
        if score is None:
            return NOT_MEASURED
        return (score.reason or "no reason given") if score.value is None else None

    @property
    def at_floor(self) -> bool:
        """Return whether the confidence interval of the accuracy includes the accuracy of chance."""
        accuracy, chance = self.scores.get("accuracy"), self.value(CHANCE)
        if accuracy is None or accuracy.low is None or chance is None:
            return False
        return accuracy.low <= chance

    @property
    def label(self) -> str | None:
        """The label of the scores (memflow/labels.py)."""
        return score_label(self.scores.values())

    def plain(self) -> dict[str, Any]:
        """Return the row as a dict of plain values, with the reasons for missing values."""
        accuracy = self.scores.get("accuracy")
        plain: dict[str, Any] = {
            "domain": self.domain,
            "slice": self.slice,
            "assistant": self.assistant,
            "memory": self.memory,
            "model": self.model,
            "embedder": next((score.embedder for score in self.scores.values()), None),
            "scripted": any(score.scripted for score in self.scores.values()),
            "n": accuracy.n if accuracy else 0,
            "low": accuracy.low if accuracy else None,
            "high": accuracy.high if accuracy else None,
            "chance": self.value(CHANCE),
            "at_floor": self.at_floor,
        }
        reasons = {metric: self.reason(metric) for metric in MEASURES}
        plain |= {metric: self.value(metric) for metric in MEASURES}
        return plain | {"reasons": "; ".join(f"{name}: {why}" for name, why in reasons.items() if why)}


def tabled(domains: Iterable[Domain]) -> list[Domain]:
    """Return the domains whose questions are asked at the end of a trajectory. All other domains measure capacity."""
    return [
        domain
        for domain in domains
        if domain.benchmark == "membench" and parameters_of(domain).protocol == "end"
    ]


def stands_for(domain: Domain) -> tuple[str, int] | None:
    """Return the scene and sub-dataset of the paper that a domain corresponds to, or None for another language.

    Trajectories of sub-dataset 2 contain noise.
    """
    parameters = parameters_of(domain)
    long = parameters.noise_tokens > 0 or any(dataset.endswith(LONG) for dataset in domain.datasets)
    return None if parameters.language != "en" else (parameters.scene, 2 if long else 1)


def rows(scores: Iterable[Score], domains: Sequence[Domain], slices: Sequence[str]) -> list[TableRow]:
    """Return a row for each domain, slice and assistant, sorted by model, with memories in the paper's order."""
    names = [domain.name for domain in domains]
    by_slice: dict[tuple[str, str], dict[str, list[Score]]] = {}
    for score in scores:
        if score.domain in names and score.slice in slices and score.variant == "standard":
            by_slice.setdefault((score.domain, score.slice), {}).setdefault(score.assistant, []).append(score)
    return [
        TableRow(domain, slice_, one, own[0].memory, own[0].model, {score.metric: score for score in own})
        for domain in names
        for slice_ in slices
        for one, own in sorted(
            by_slice.get((domain, slice_), {}).items(), key=lambda item: _place(item[1][0])
        )
    ]


def _place(score: Score) -> tuple[str, tuple[int, int, str]]:
    return score.model, order(score.memory)
