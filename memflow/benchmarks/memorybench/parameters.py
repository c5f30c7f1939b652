"""The parameters of a MemoryBench domain."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memflow.domains import Domain
from memflow.errors import BadSettings


class Parameters(BaseModel):
    """What a domain may settle.

    `context_tokens` are the estimated tokens of a corpus that the backbone is shown while feedback is gathered.
    `query` is what a memory is searched with for a probe: its question, or the whole prompt that asks it, as the
    published code has it. `conversations` are how many whole conversations are taken, the first ones; 0 is all.
    `partition` is the one of the paper's that the domain is: its scores are measured against the published figures.
    `variants` are what is measured beside the standard: the `published_code`, where published figures rest on a slip of
    it. It costs requests to the judge.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    context_tokens: int = Field(30_000, ge=0)
    query: Literal["question", "prompt"] = "question"
    conversations: int = Field(0, ge=0)
    partition: Literal["open", "legal", "academic", "LiSo", "SiLo", "LiLo", "SiSo"] | None = None
    variants: tuple[Literal["published_code"], ...] = ()


def parameters_of(domain: Domain) -> Parameters:
    """The domain's parameters. Raises BadSettings naming the one that is wrong."""
    try:
        return Parameters.model_validate(dict(domain.parameters))
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        raise BadSettings(f"domain {domain.name}, parameter {first['loc'][0]}: {first['msg']}") from wrong
