"""The values in tables 3 to 5 and 10 to 12 of MemBench's paper, and known errors in them, from reference.yaml.

Published values are shown beside measured scores but are not part of any score.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pydantic import BaseModel, ConfigDict

from memflow.benchmarks.packaged import load_yaml

MODEL = "Qwen2.5-7B-Instruct"
"""The answering model of all tables but table 5."""


@dataclass(frozen=True, slots=True)
class Published:
    """A published accuracy, recall or time in seconds. A value that is a text is a bound, such as `<0.001`.

    `subset` is sub-dataset 1 (about 10k tokens per trajectory in participation, 1k in observation) or 2 (100k, 10k).
    `questions` is the number of questions behind an accuracy, if known. `doubt` names a known error.
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
    """A column of a paper table: one published value per memory mechanism, in the paper's order."""

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
    return _File.model_validate(load_yaml("memflow.benchmarks.membench", "reference.yaml"))


def mechanisms() -> Mapping[str, str]:
    """Return the paper's names of its mechanisms by memory name, in the paper's order."""
    return _file().mechanisms


def doubts() -> Mapping[str, str]:
    """Return the known errors of published values by name: D1 to D7 of docs/explanation/membench.md."""
    return _file().doubts


@cache
def published() -> tuple[Published, ...]:
    """Return all published values in the order of the tables."""
    return tuple(
        Published(
            **column.model_dump(exclude={"values", "doubts"}),
            mechanism=name,
            value=value,
            doubt=column.doubts.get(name, column.doubts.get("all")),
        )
        for column in _file().columns
        for name, value in zip(mechanisms(), column.values, strict=False)
        if value is not None
    )


def order(memory: str) -> tuple[int, int, str]:
    """Return a memory's sort key: `none`, the paper's mechanisms, other memories, `previous`, `oracle`."""
    names, name = list(mechanisms()), mechanism(memory)
    group = {"none": 0, "previous": 3, "oracle": 4}.get(memory, 2 if name is None else 1)
    return group, names.index(name) if name else 0, memory


def mechanism(memory: str) -> str | None:
    """Return the paper's mechanism that a memory implements, or None. Parameters of the memory are ignored."""
    return next((name for name in mechanisms() if memory == name or memory.startswith(f"{name}_")), None)
