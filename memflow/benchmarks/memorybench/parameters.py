"""The parameters of a MemoryBench domain."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from memflow.domains import Domain
from memflow.errors import BadSettings


class Parameters(BaseModel):
    """What a domain may settle.

    `context_tokens` are the estimated tokens of a corpus that the backbone is shown while feedback is gathered.
    `query` is what a memory is searched with for a probe: its question, or the whole prompt that asks it, as the
    published code has it. `conversations` are how many whole conversations are taken, the first ones; 0 is all.

    `protocol` is how an assistant learns, and when it is asked (paper, A.3): `off_policy`, `stepwise` (in batches of
    `batch` dialogues), `on_policy` (`steps` steps of `batch` cases that it answers itself), `training` (asked what it
    was trained on), `same` (each training case asked again after its own dialogue). `learn_from` is which dialogues
    are remembered: all, or those in which an answer was liked, or copied; these are then gathered on all cases that
    are not test. `follow_ups` on-policy are answered, or, in the published code, never.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    context_tokens: int = Field(30_000, ge=0)
    query: Literal["question", "prompt"] = "question"
    conversations: int = Field(0, ge=0)
    protocol: Literal["off_policy", "stepwise", "on_policy", "training", "same"] = "off_policy"
    batch: int = Field(100, ge=1)
    steps: int = Field(10, ge=1)
    learn_from: Literal["dialogues", "liked", "copied"] = "dialogues"
    follow_ups: Literal["standard", "published_code"] = "standard"

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.learn_from != "dialogues" and self.protocol != "off_policy":
            raise ValueError(f"learn_from {self.learn_from!r} is for the protocol off_policy alone")
        return self


def parameters_of(domain: Domain) -> Parameters:
    """The domain's parameters. Raises BadSettings naming the one that is wrong."""
    try:
        return Parameters.model_validate(dict(domain.parameters))
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        where = f", parameter {first['loc'][0]}" if first["loc"] else ""
        raise BadSettings(f"domain {domain.name}{where}: {first['msg']}") from wrong
