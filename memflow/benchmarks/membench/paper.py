"""The figures that MemBench's paper publishes (tables 3 to 5 and 10 to 12), and what is known to be wrong with them.

They are data, in reference.yaml, and are shown beside what was measured; no figure is measured against them. What was
measured is tables.py.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict

MODEL = "Qwen2.5-7B-Instruct"
"""The model that answers in all tables but table 5."""


@dataclass(frozen=True, slots=True)
class Published:
    """A figure of the paper's: an accuracy, a recall, or seconds. A text is a bound, such as `<0.001`.

    `subset` is Sub-dataset 1 (some 10k tokens a trajectory where two speak, 1k where one is observed) or 2 (100k, 10k);
    `questions` how many an accuracy rests on, where that is known; `doubt` the name of what is wrong with it.
    """

    table: int
    level: str
    scene: str
    subset: int
    measure: str
    mechanism: str
    value: float | str
    kind: str | None = None
    model: str = MODEL
    questions: int | None = None
    doubt: str | None = None


class _Column(BaseModel):
    """Figures under one head of a table, by mechanism in the paper's order."""

    model_config = ConfigDict(extra="forbid")

    table: int
    level: str
    scene: str
    subset: int
    measure: str
    values: list[float | str | None]
    kind: str | None = None
    model: str = MODEL
    questions: int | None = None
    doubts: dict[str, str] = {}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mechanisms: dict[str, str]
    doubts: dict[str, str]
    columns: list[_Column]


@cache
def _file() -> _File:
    text = files(__package__).joinpath("reference.yaml").read_text(encoding="utf-8")
    return _File.model_validate(yaml.safe_load(text))


def mechanisms() -> Mapping[str, str]:
    """What the paper calls the memories that stand for its mechanisms, by their names here, in its order."""
    return _file().mechanisms


def doubts() -> Mapping[str, str]:
    """What is wrong with published figures, by its name: D1 to D7 as in docs/fidelity.md."""
    return _file().doubts


@cache
def published() -> tuple[Published, ...]:
    """Every published figure, in the order of the tables."""
    return tuple(
        Published(
            column.table,
            column.level,
            column.scene,
            column.subset,
            column.measure,
            name,
            value,
            column.kind,
            column.model,
            column.questions,
            column.doubts.get(name, column.doubts.get("all")),
        )
        for column in _file().columns
        for name, value in zip(mechanisms(), column.values, strict=False)
        if value is not None
    )


def shares(value: float, questions: int) -> list[int]:
    """How many of so many questions may be right where `value` is published: rounded to three digits, or cut off."""
    tiny, thousandths = 1e-9, round(1000 * value)  # a float may lie a little off the edge that it stands for
    return [
        right
        for right in range(questions + 1)
        if abs(right / questions - value) <= 0.0005 + tiny
        or math.floor(1000 * right / questions + tiny) == thousandths
    ]


def order(memory: str) -> tuple[int, int, str]:
    """Sorts memories: `none`, the paper's mechanisms in its order, others, `oracle`."""
    names = list(mechanisms())
    mine = mechanism(memory)
    place = {"none": 0, "oracle": 3}.get(memory, 2 if mine is None else 1)
    return place, names.index(mine) if mine else 0, memory


def mechanism(memory: str) -> str | None:
    """The mechanism that a memory is, whatever its numbers; None for another."""
    return next((name for name in mechanisms() if memory == name or memory.startswith(f"{name}_")), None)
