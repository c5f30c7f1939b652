"""The parameters of a MemoryBench domain."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from memflow.benchmarks.domains import Domain, parse_parameters
from memflow.benchmarks.memorybench.users.actions import LEAST, MOST, ActionModel, Family


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

    `protocol` is how an assistant learns, and when it is asked (paper, A.3): `off_policy`, `stepwise` (in batches of
    `batch` dialogues), `on_policy` (`steps` steps of `batch` cases that it answers itself), `training` (asked what it
    was trained on), `same` (each training case asked again after its own dialogue). `learn_from` is which dialogues
    are remembered: all, or those in which an answer was liked, or copied; these are then gathered on all cases that
    are not test. `follow_ups` on-policy are answered, or, in the published code, never.

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
    protocol: Literal["off_policy", "stepwise", "on_policy", "training", "same"] = "off_policy"
    batch: int = Field(100, ge=1)
    steps: int = Field(10, ge=1)
    learn_from: Literal["dialogues", "liked", "copied"] = "dialogues"
    follow_ups: Literal["standard", "published_code"] = "standard"
    right: Literal["standard", "published_code"] = "standard"
    actions: ActionModel = ActionModel()
    calibration: Literal["own", "published"] | dict[Family, Histogram] = "own"
    noise: float = Field(0.0, ge=0, le=MOST)

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.learn_from != "dialogues" and self.protocol != "off_policy":
            raise ValueError(f"learn_from {self.learn_from!r} is for the protocol off_policy alone")
        if self.follow_ups != "standard" and self.protocol != "on_policy":
            raise ValueError(f"follow_ups {self.follow_ups!r} is for the protocol on_policy alone")
        return self


def parameters_of(domain: Domain) -> Parameters:
    """The domain's parameters. Raises BadSettings naming the one that is wrong."""
    return parse_parameters(Parameters, domain)
