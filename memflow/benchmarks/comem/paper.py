"""The values that CoMem's paper publishes (tables 2 to 15), and known errors in them.

reference.yaml has the data, which are shown beside measured values. paper_consistency.py tests whether the values are
consistent with each other.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict

from memflow.benchmarks.comem.config import parse_config
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
"""The paper's data set that each of our data sets represents."""


@dataclass(frozen=True, slots=True)
class PaperDataset:
    """One of the paper's data sets, and the numbers of the tables about it."""

    title: str
    contexts: int
    questions: int
    shares: int
    stability: int


@dataclass(frozen=True, slots=True)
class PaperRow:
    """The published values of a memory and a model: shares of `questions`, from the checkpoint at share .25 on."""

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
        """Return the published values, keyed by the leaderboard's names of metric and slice."""
        found = {"all_correct/all": self.all_correct, "all_wrong/all": self.all_wrong}
        for measure, values in (("forgetting", self.forgetting), ("forward_transfer", self.forward_transfer)):
            found |= {f"{measure}/checkpoint {at}": value for at, value in enumerate(values, start=1)}
        return found


class _PaperRowModel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    dataset: str
    model: str
    memory: str
    forgetting: tuple[float, float, float, float]
    forward_transfer: tuple[float, float, float, float]
    all_correct: float
    all_wrong: float
    doubt: str | None = None


class Reference(BaseModel):
    """The published values in reference.yaml.

    `memories` maps memory names to the names in the paper, in its order. `doubts` describes the known errors in
    published values, T1 and T2 in docs/explanation/comem.md.
    """

    model_config = ConfigDict(extra="forbid")

    memories: dict[str, str]
    datasets: dict[str, PaperDataset]
    doubts: dict[str, str]
    rows: list[_PaperRowModel]


@cache
def reference() -> Reference:
    """Return the published values in reference.yaml. The file is read once."""
    text = files(__package__).joinpath("reference.yaml").read_text(encoding="utf-8")
    return Reference.model_validate(yaml.safe_load(text))


@cache
def published() -> tuple[PaperRow, ...]:
    """Return all published rows, ordered by data set, model and memory as in the paper."""
    found = reference()
    return tuple(
        PaperRow(**row.model_dump(), questions=found.datasets[row.dataset].questions) for row in found.rows
    )


def count(share: float, questions: int) -> int:
    """Return the number of questions that a published share corresponds to. Raises BadInput if several numbers fit."""
    exact = Fraction(str(share))
    near = round(exact * questions)
    found = [each for each in (near - 1, near, near + 1) if abs(Fraction(each, questions) - exact) <= HALF]
    if len(found) != 1:
        raise BadInput(
            f"the published share {share} matches no number of correct answers out of {questions}, "
            "or more than one. Check the number of questions."
        )
    return found[0]


def order(memory: str) -> tuple[int, str]:
    """Return the sort key of a memory: the paper's memories in its order, with any parameters, then all others."""
    names = list(reference().memories)
    places = (at for at, name in enumerate(names) if memory == name or memory.startswith(f"{name}_"))
    return next(places, len(names)), memory


def stands_for(domain: Domain) -> str | None:
    """Return the paper's data set that a domain corresponds to, or None if there is none or the checkpoints differ."""
    config = parse_config(domain)
    like = {DATASETS.get(name) for name in domain.datasets}
    if config.checkpoints != (0.25, 0.5, 0.75, 1.0) or len(like) != 1:
        return None
    return like.pop()
