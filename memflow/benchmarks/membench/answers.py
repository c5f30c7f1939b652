"""Output types of MemBench's prompts: bounded, so that a server can hold a model to them."""

from functools import cache
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, create_model

from memflow.benchmarks.membench.wording import LETTERS


class _Bounded(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Choice(_Bounded):
    """The letter of an option."""

    choice: Literal["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"]


@cache
def choice_of(options: int) -> type[Choice]:
    """Choice with a letter that an option has."""
    letters = cast(Any, Literal)[tuple(LETTERS[:options])]
    return cast(
        type[Choice], create_model("Choice", __base__=Choice, __doc__=Choice.__doc__, choice=(letters, ...))
    )
