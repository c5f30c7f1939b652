"""Keys as a file, for whoever paid for them to hand them on: what it holds, and a domain's keys written as one.

JSON Lines in UTF-8: a header, then one question a line, with its key at each checkpoint. No text of the data sets is in
it, but what the grounds of a key quote; a digest says which question and options a key is for. Reading a file is
sources/keys.py, taking its keys over imported.py.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.comem.annotation.labels import LAST_WORD, by_question, final
from memflow.benchmarks.comem.config import UNKNOWN, parameters_of
from memflow.benchmarks.comem.contexts import Asked, Context
from memflow.benchmarks.comem.truncation import visible
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.records import GoldLabel

Name = Annotated[str, Field(min_length=1, max_length=300)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Header(_Strict):
    """The first line. `questions` is how many lines follow, `domain` whose keys they were."""

    format: Literal["memflow keys 1"]
    domain: Name | None = None
    questions: int | None = Field(None, ge=1)


class Ground(_Strict):
    """What one hand gave as its grounds. `hand` and `model` say whose it was."""

    hand: Name | None = None
    model: Name | None = None
    why: str | None = Field(None, max_length=20_000)


class At(_Strict):
    """The key after a `share` of the context, its first `visible` messages: an option's number from 1, or `unknown`."""

    share: float = Field(gt=0, le=1)
    visible: int = Field(ge=0)
    answer: Annotated[int, Field(ge=1, le=1000)] | Literal["unknown"]
    grounds: list[Ground] = Field([], max_length=10)


class Keyed(_Strict):
    """One question: its id, the digest of question and options, and its keys in the order of the checkpoints."""

    question_id: str = Field(min_length=3, max_length=1000, pattern=r"[^/]/[^/]")
    digest: str = Field(pattern=r"^[0-9a-f]{32}$")
    keys: list[At] = Field(min_length=1, max_length=20)


@dataclass(frozen=True)
class Written:
    """A file of keys: its text, how many questions are in it, and why others are not, by their ids."""

    text: str
    questions: int
    left_out: Mapping[str, str]


def digest_of(asked: Asked) -> str:
    """What a question's keys are for: its words, and its options in their order, as its source has them."""
    return digest(asked.question, asked.options)


def written(
    domain: Domain, contexts: Sequence[Context], keys: Sequence[GoldLabel], models: Mapping[str, str]
) -> Written:
    """The last words among a domain's keys as a file, each with the grounds of every hand.

    A question that was dropped or that a hand failed at is left out. `models` names models by their fingerprints.
    Raises BadInput where keys are of other contexts, or another truncation, than the domain has now.
    """
    held = dict(by_question(keys))
    lines: list[Keyed] = []
    left_out: dict[str, str] = {}
    for context in contexts:
        for asked in context.asked:
            question = context.question_id(asked)
            mine = held.pop(question, [])
            why = next((why for key in mine for why in (key.reason, key.dropped) if why is not None), None)
            if why is not None:
                left_out[question] = why
            elif mine:
                lines.append(_keyed(domain, context, asked, mine, models))
    if held:
        raise BadInput(f"{domain.name}: it has keys of {next(iter(held))}, and no such question; {_AGAIN}")
    header = Header(format="memflow keys 1", domain=domain.name, questions=len(lines) or None)
    return Written("".join(map(_json, (header, *lines))), len(lines), left_out)


_AGAIN = "materialize the asset question/keys again"


def _keyed(
    domain: Domain, context: Context, asked: Asked, keys: Sequence[GoldLabel], models: Mapping[str, str]
) -> Keyed:
    parameters, last = parameters_of(domain), final(keys)
    seen = dict(enumerate(visible(context, asked, parameters)[1:], start=1))
    if {number: key.visible for number, key in last.items()} != seen:
        raise BadInput(
            f"{domain.name}: {context.question_id(asked)} has keys of another truncation than the domain has now; "
            f"{_AGAIN}"
        )
    return Keyed(
        question_id=context.question_id(asked),
        digest=digest_of(asked),
        keys=[
            At(
                share=share,
                visible=seen[number],
                answer=_answer(last[number]),
                grounds=list(_grounds(keys, number, models)),
            )
            for number, share in enumerate(parameters.checkpoints, start=1)
        ],
    )


def _answer(key: GoldLabel) -> int | Literal["unknown"]:
    if key.answer is None:
        raise BadInput(f"{key.domain}: {key.question_id} has no key at checkpoint {key.checkpoint}; {_AGAIN}")
    return UNKNOWN if key.answer == UNKNOWN else int(key.answer)


def _grounds(keys: Sequence[GoldLabel], checkpoint: int, models: Mapping[str, str]) -> Iterator[Ground]:
    """What each hand said, the one whose word is the last at the end."""
    for key in sorted(keys, key=lambda key: LAST_WORD.index(key.made_by), reverse=True):
        if key.checkpoint == checkpoint:
            model = None if key.model is None else models.get(key.model, key.model)
            yield Ground(hand=key.made_by, model=model, why=key.why)


def _json(shape: BaseModel) -> str:
    said: dict[str, Any] = shape.model_dump(mode="json", exclude_none=True)
    return f"{json.dumps(said, ensure_ascii=False)}\n"
