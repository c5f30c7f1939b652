"""The paper's tables of what was measured: the leaderboard's figures -> a row for each assistant, domain and slice.

Tables 3 to 5 are by level of memory, 10 to 12 by kind of question. Which figures there are is figures.py and
efficiency.py; what the paper itself published, reference.py; what is drawn of them, pictures.py.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.kinds import COLUMNS, LEVELS
from memflow.benchmarks.membench.paper import order
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
"""What an assistant is measured by: three shares, then seconds and chat requests per operation.

recall_at_10 is by the ten best entries, evidence_recall by all that a budget let through.
"""
CHANCE = "random"
LEVEL_SLICES = tuple(f"level {level}" for level in LEVELS)
KIND_SLICES = tuple(f"category {name}" for name in COLUMNS)
LONG = "_100k"
"""Ends the names of data sets that are lengthened by noise."""
NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Row:
    """What an assistant scores in a slice of a domain: its figures by metric, as far as there are any."""

    domain: str
    slice: str
    assistant: str
    memory: str
    model: str
    figures: Mapping[str, Score]

    def value(self, metric: str) -> float | None:
        """The figure's value; None where there is none, which `reason` explains."""
        figure = self.figures.get(metric)
        return None if figure is None else figure.value

    def reason(self, metric: str) -> str | None:
        """Why a figure has no value; None where it has one."""
        figure = self.figures.get(metric)
        if figure is None:
            return NOT_MEASURED
        return (figure.reason or "no reason given") if figure.value is None else None

    @property
    def at_floor(self) -> bool:
        """Whether the interval of its accuracy reaches down to chance: what it scores may be guessing."""
        accuracy, chance = self.figures.get("accuracy"), self.value(CHANCE)
        if accuracy is None or accuracy.low is None or chance is None:
            return False
        return accuracy.low <= chance

    @property
    def scripted(self) -> bool:
        return any(figure.scripted for figure in self.figures.values())

    def plain(self) -> dict[str, Any]:
        """One value a name: what a program reads. Reasons stand for figures without a value."""
        accuracy = self.figures.get("accuracy")
        told: dict[str, Any] = {
            "domain": self.domain,
            "slice": self.slice,
            "assistant": self.assistant,
            "memory": self.memory,
            "model": self.model,
            "scripted": self.scripted,
            "n": accuracy.n if accuracy else 0,
            "low": accuracy.low if accuracy else None,
            "high": accuracy.high if accuracy else None,
            "chance": self.value(CHANCE),
            "at_floor": self.at_floor,
        }
        lacking = {metric: self.reason(metric) for metric in MEASURES}
        told |= {metric: self.value(metric) for metric in MEASURES}
        return told | {"reasons": "; ".join(f"{name}: {why}" for name, why in lacking.items() if why)}


def tabled(domains: Iterable[Domain]) -> list[Domain]:
    """The domains of MemBench whose questions are asked at the end. Those asked after every message are of capacity."""
    return [
        domain
        for domain in domains
        if domain.benchmark == "membench" and parameters_of(domain).protocol == "end"
    ]


def stands_for(domain: Domain) -> tuple[str, int] | None:
    """Which of the paper's a domain is like: its scene, and the sub-dataset, of which the second is lengthened by
    noise, here or as it is published; None for one in another language."""
    parameters = parameters_of(domain)
    long = parameters.noise_tokens > 0 or any(dataset.endswith(LONG) for dataset in domain.datasets)
    return None if parameters.language != "en" else (parameters.scene, 2 if long else 1)


def rows(figures: Iterable[Score], domains: Sequence[Domain], slices: Sequence[str]) -> list[Row]:
    """A row for each domain, slice of it, and assistant: domains and slices as given, memories as the paper has them,
    model by model."""
    names = [domain.name for domain in domains]
    held: dict[tuple[str, str], dict[str, list[Score]]] = {}
    for figure in figures:
        if figure.domain in names and figure.slice in slices and figure.variant == "standard":
            held.setdefault((figure.domain, figure.slice), {}).setdefault(figure.assistant, []).append(figure)
    return [
        Row(domain, slice_, one, mine[0].memory, mine[0].model, {figure.metric: figure for figure in mine})
        for domain in names
        for slice_ in slices
        for one, mine in sorted(held.get((domain, slice_), {}).items(), key=lambda item: _place(item[1][0]))
    ]


def _place(figure: Score) -> tuple[str, tuple[int, int, str]]:
    return figure.model, order(figure.memory)
