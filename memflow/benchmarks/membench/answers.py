"""Output types of MemBench's prompts: bounded, so that a server can hold a model to them."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import permutations
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from memflow.benchmarks.multiple_choice import Choice

__all__ = ["Choice"]

LINE = 200
"""Characters of what is said beside the point, at most: two short sentences."""
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LINE)]
Told = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=600)]
ORDERS = 3
"""So many words may come in any order; more in that of the plain sentence."""
AROUND = 100
"""Characters before, between and after words that have to stand in what is told."""


_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")
"""What means something in a pattern, in every dialect of them."""


class _Bounded(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Round(_Bounded):
    """What a person says and what the assistant says in return, beside the point of a session."""

    user: Line
    assistant: Line


class Rounds(_Bounded):
    """A conversation."""

    rounds: list[Round] = Field(min_length=1, max_length=40)


class Messages(_Bounded):
    """What a person says, one message after the other."""

    messages: list[Line] = Field(min_length=1, max_length=20)


class ToldRound(_Bounded):
    """What a person tells in their own words, and what the assistant says in return."""

    user: Told
    assistant: Told


class ToldMessage(_Bounded):
    """What a person tells or asks, in their own words."""

    text: Told


@cache
def rounds_of(count: int) -> type[Rounds]:
    """Rounds of exactly so many."""
    return _exactly(Rounds, "rounds", list[Round], count)


@cache
def messages_of(count: int) -> type[Messages]:
    """Messages of exactly so many."""
    return _exactly(Messages, "messages", list[Line], count)


def _exactly(base: type[_Bounded], field: str, items: Any, count: int) -> Any:
    narrowed = {field: (items, Field(min_length=count, max_length=count))}
    return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **cast(Any, narrowed))


def told_of(plain: str, keeps: Sequence[str]) -> type[ToldMessage]:
    """ToldMessage in which those of the words stand that stand in `plain`."""
    return _keeping(ToldMessage, ("text",), (_kept(plain, keeps),))


def told_round_of(plain: str, replied: str, keeps: Sequence[str]) -> type[ToldRound]:
    """ToldRound in which each side says those of the words that stand in its plain sentence."""
    return _keeping(ToldRound, ("user", "assistant"), (_kept(plain, keeps), _kept(replied, keeps)))


def _kept(plain: str, keeps: Sequence[str]) -> tuple[str, ...]:
    """The words as they stand in the sentence, in its order; one that overlaps another is left to the longer."""
    found: list[tuple[int, int]] = []
    for word in sorted(keeps, key=len, reverse=True):
        at = plain.lower().find(word.lower())
        end = at + len(word)
        if at >= 0 and all(end <= first or last <= at for first, last in found):
            found.append((at, end))
    return tuple(plain[first:last] for first, last in sorted(found))


@lru_cache(maxsize=4096)
def _keeping(base: type[_Bounded], fields: tuple[str, ...], kept: tuple[tuple[str, ...], ...]) -> Any:
    # The pattern is for the server. Whether the words are kept, the asker looks, and says so in words.
    narrowed = {
        field: (Told, Field(json_schema_extra={"pattern": _pattern(words)}))
        for field, words in zip(fields, kept, strict=True)
        if words
    }
    return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **cast(Any, narrowed))


def _pattern(words: Sequence[str]) -> str:
    """A line in which the words stand, in any order where they are few. A server that is held to it cannot lose one."""
    around = f".{{0,{AROUND}}}"
    orders = [tuple(words)] if len(words) > ORDERS else list(permutations(words))
    lines = [around + around.join(_literal(word) for word in order) + around for order in orders]
    return f"^({'|'.join(dict.fromkeys(lines))})$"


def _literal(word: str) -> str:
    """The word as it is, but that it may begin a sentence."""
    plain = _SPECIAL.sub(r"\\\g<0>", word)
    lower, upper = word[0].lower(), word[0].upper()
    return plain if lower == upper or len(lower + upper) != 2 else f"[{upper}{lower}]{plain[1:]}"
