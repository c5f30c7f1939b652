"""Output types of CoMem's prompts. Every field is bounded, so that a server can enforce the schema.

`narrowed_choice` limits the choices to the options of one question.
"""

from functools import cache
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import StringConstraints

from memflow.benchmarks.models import StrictModel, narrowed
from memflow.benchmarks.multiple_choice import LETTERS, Choice

__all__ = ["LONGEST_GROUNDS", "UNKNOWN_CHOICE", "Choice", "Finding", "Review", "narrowed_choice"]

UNKNOWN_CHOICE = "UNKNOWN"
"""The choice of an annotator where the visible messages do not contain the answer."""

LONGEST_GROUNDS = 400
Grounds = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_GROUNDS)]


class Finding(StrictModel):
    """What an annotator finds to be right. The reasons come first, so that a model gives them before it chooses."""

    why: Grounds
    choice: Literal["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "UNKNOWN"]


class Review(Finding):
    """A finding of one who was told another's answer, and whether that one is right."""

    right: bool


F = TypeVar("F", bound=Finding)


@cache
def narrowed_choice(shape: type[F], options: int) -> type[F]:
    """Return a Finding or Review whose choice is an existing option's letter or UNKNOWN."""
    letters = cast(Any, Literal)[(*LETTERS[:options], UNKNOWN_CHOICE)]
    return narrowed(shape, choice=(letters, ...))
