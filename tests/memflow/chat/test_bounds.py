"""Detection of unbounded fields in output types."""

from typing import Annotated, Literal

import pytest
from bounded_types import assert_bounded, unbounded
from pydantic import BaseModel, Field


class Part(BaseModel):
    name: Annotated[str, Field(max_length=10)]
    loose: str


class Whole(BaseModel):
    parts: Annotated[list[Part], Field(max_length=3)]
    endless: list[Literal["a", "b"]]
    score: int
    share: Annotated[float, Field(ge=0, le=1)]
    perhaps: Annotated[str, Field(max_length=5)] | None
    anything: dict[str, int]


class Good(BaseModel):
    text: Annotated[str, Field(max_length=10)]
    choice: Annotated[int, Field(gt=0, lt=5)]
    sure: bool
    kind: Literal["x"]


def test_bound_detection_lists_every_field_without_a_limit() -> None:
    assert unbounded(Whole) == [
        "Whole.parts[].loose lacks maxLength",
        "Whole.endless lacks maxItems",
        "Whole.score lacks minimum",
        "Whole.score lacks maximum",
        "Whole.anything lacks a fixed set of keys",
    ]


def test_assert_bounded_accepts_bounded_type_and_rejects_unbounded_type() -> None:
    assert_bounded(Good)
    with pytest.raises(AssertionError, match="score lacks minimum"):
        assert_bounded(Whole)
