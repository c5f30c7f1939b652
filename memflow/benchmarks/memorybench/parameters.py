"""The parameters of a MemoryBench domain."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from memflow.benchmarks.memorybench.actions import LEAST, MOST, ActionModel, Family
from memflow.domains import Domain
from memflow.errors import BadSettings


def _somebody(shares: dict[int, float]) -> dict[int, float]:
    if sum(shares.values()) <= 0:
        raise ValueError("no score has a share; give counts or shares by satisfaction, from 1 to 10")
    return shares


Histogram = Annotated[
    dict[Annotated[int, Field(ge=LEAST, le=MOST)], Annotated[float, Field(ge=0)]], AfterValidator(_somebody)
]
"""Counts or shares by satisfaction."""


class Parameters(BaseModel):
    """What a domain may settle.

    `context_tokens` are the estimated tokens of a corpus that the backbone is shown while feedback is gathered.
    `query` is what a memory is searched with for a probe: its question, or the whole prompt that asks it, as the
    published code has it. `conversations` are how many whole conversations are taken, the first ones; 0 is all.
    `partition` is the one of the paper's that the domain is: its scores are measured against the published figures.
    `variants` are what is measured beside the standard: the `published_code`, where published figures rest on a slip of
    it. It costs requests to the judge.

    `right` is which of LoCoMo's answers content their users: an F1 of 0.5 and more, or, in the published code, of more
    than 0.5. `actions` is how readily users press. `calibration` is the satisfaction that its rates hold over: the
    domain's `own` by family, the `published` one (where the paper has none, the domain's own), or a histogram by
    family, the rest being the domain's own. `noise` is the standard deviation, in points, of what is added to
    satisfaction before anything is pressed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    context_tokens: int = Field(30_000, ge=0)
    query: Literal["question", "prompt"] = "question"
    conversations: int = Field(0, ge=0)
    partition: Literal["open", "legal", "academic", "LiSo", "SiLo", "LiLo", "SiSo"] | None = None
    variants: tuple[Literal["published_code"], ...] = ()
    right: Literal["standard", "published_code"] = "standard"
    actions: ActionModel = ActionModel()
    calibration: Literal["own", "published"] | dict[Family, Histogram] = "own"
    noise: float = Field(0.0, ge=0, le=MOST)


def parameters_of(domain: Domain) -> Parameters:
    """The domain's parameters. Raises BadSettings naming the one that is wrong."""
    try:
        return Parameters.model_validate(dict(domain.parameters))
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        # A union adds the names of its types to the place; those are no names of parameters.
        named = [str(part) for part in first["loc"] if str(part).isidentifier()]
        raise BadSettings(f"domain {domain.name}, parameter {'.'.join(named)}: {first['msg']}") from wrong
