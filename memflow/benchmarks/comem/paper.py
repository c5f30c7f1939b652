"""The figures that CoMem's paper publishes (tables 2 to 15), and what is known to be wrong with them.

They are data, in reference.yaml, and are shown beside what was measured; no figure is measured against them. Whether
they can all be true is starts.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict

from memflow.benchmarks.comem.config import parameters_of
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput

HALF = Fraction(5, 100_000)
"""Half of the last digit of a published share."""
DATASETS = {
    "personamem_32k": "personamem_32k",
    "personamem_128k": "personamem_128k",
    "comem_friends": "dialsim",
    "comem_bigbang": "dialsim",
    "comem_theoffice": "dialsim",
}
"""Which of the paper's data sets ours are of."""


@dataclass(frozen=True, slots=True)
class Source:
    """One of the paper's data sets, and the numbers of the tables that tell of it."""

    title: str
    contexts: int
    questions: int
    shares: int
    stability: int


@dataclass(frozen=True, slots=True)
class Row:
    """What the paper publishes of a memory under a model: shares of `questions`, by checkpoint from .25 on."""

    dataset: str
    model: str
    memory: str
    questions: int
    forgetting: tuple[float, ...]
    forward_transfer: tuple[float, ...]
    all_correct: float
    all_wrong: float
    doubt: str | None = None

    def plain(self) -> dict[str, float]:
        """Its figures by measure and slice, as the leaderboard names them."""
        found = {"all_correct/all": self.all_correct, "all_wrong/all": self.all_wrong}
        for measure, values in (("forgetting", self.forgetting), ("forward_transfer", self.forward_transfer)):
            found |= {f"{measure}/checkpoint {at}": value for at, value in enumerate(values, start=1)}
        return found


@dataclass(frozen=True, slots=True)
class Again:
    """A share of always right questions that the paper prints a second time, and otherwise; of `less`, a difference."""

    table: int
    dataset: str
    model: str
    memory: str
    all_correct: float
    less: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What the paper's text says of accuracies that no table has; reference.yaml says what its parts mean."""

    dataset: str
    model: str
    memories: tuple[str, ...]
    over: str | None = None
    low: float | None = None
    high: float | None = None
    mean: float | None = None


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    dataset: str
    model: str
    memory: str
    forgetting: tuple[float, float, float, float]
    forward_transfer: tuple[float, float, float, float]
    all_correct: float
    all_wrong: float
    doubt: str | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    memories: dict[str, str]
    datasets: dict[str, Source]
    doubts: dict[str, str]
    rows: list[_Row]
    again: list[Again]
    claims: dict[str, Claim]


@cache
def _file() -> _File:
    text = files(__package__).joinpath("reference.yaml").read_text(encoding="utf-8")
    return _File.model_validate(yaml.safe_load(text))


def memories() -> Mapping[str, str]:
    """What the paper calls its memories, by our names of them, in its order."""
    return _file().memories


def sources() -> Mapping[str, Source]:
    """The paper's data sets by name."""
    return _file().datasets


def doubts() -> Mapping[str, str]:
    """What is wrong with published figures, by its name: T1 and T2 as in docs/fidelity.md."""
    return _file().doubts


@cache
def published() -> tuple[Row, ...]:
    """Every row of the tables: by data set, model and memory as the paper has them."""
    return tuple(Row(**row.model_dump(), questions=sources()[row.dataset].questions) for row in _file().rows)


def again() -> list[Again]:
    """What tables 4 and 5 repeat and do not say as tables 13 to 15 do."""
    return _file().again


def claims() -> Mapping[str, Claim]:
    """What the text says of accuracy, by name."""
    return _file().claims


def count(share: float, questions: int) -> int:
    """How many of so many questions a published share is. Raises BadInput where that is not one number."""
    exact = Fraction(str(share))
    near = round(exact * questions)
    found = [each for each in (near - 1, near, near + 1) if abs(Fraction(each, questions) - exact) <= HALF]
    if len(found) != 1:
        raise BadInput(f"{share} is no share of {questions} questions")
    return found[0]


def order(memory: str) -> tuple[int, str]:
    """Sorts memories: those that stand for the paper's in its order, whatever their numbers, and others after them."""
    for place, name in enumerate(memories()):
        if memory == name or memory.startswith(f"{name}_"):
            return place, memory
    return len(memories()), memory


def stands_for(domain: Domain) -> str | None:
    """The paper's data set that a domain is like; None where it has none, as for other shares."""
    parameters = parameters_of(domain)
    like = {DATASETS.get(name) for name in domain.datasets}
    if parameters.checkpoints != (0.25, 0.5, 0.75, 1.0) or len(like) != 1:
        return None
    return like.pop()
