"""Output types of CoMem's prompts: bounded, so that a server can hold a model to them.

A prompt file names the general type; what depends on how many options there are is narrowed to them.
"""

from functools import cache
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, StringConstraints, create_model

from memflow.benchmarks.multiple_choice import LETTERS, Choice

__all__ = ["LONGEST_GROUNDS", "UNTOLD", "Choice", "Finding", "Review", "narrowed"]

UNTOLD = "UNKNOWN"
"""What an annotator chooses where what was said does not tell."""

LONGEST_GROUNDS = 400
Grounds = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_GROUNDS)]


class Finding(BaseModel):
    """What an annotator finds to be right. The reasons come first, so that a model gives them before it chooses."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    why: Grounds
    choice: Literal["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "UNKNOWN"]


class Review(Finding):
    """A finding of one who was told another's answer, and whether that one is right."""

    right: bool


F = TypeVar("F", bound=Finding)


@cache
def narrowed(shape: type[F], options: int) -> type[F]:
    """A finding or a review with a letter that an option has, or UNKNOWN."""
    letters = cast(Any, Literal)[(*LETTERS[:options], UNTOLD)]
    return cast(
        type[F], create_model(shape.__name__, __base__=shape, __doc__=shape.__doc__, choice=(letters, ...))
    )
