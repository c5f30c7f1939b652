"""The parameters of a MemoryBench domain."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from memflow.benchmarks.domains import Domain, parse_parameters
from memflow.benchmarks.memorybench.users.action_model import (
    MAX_SATISFACTION,
    MIN_SATISFACTION,
    ActionModel,
    Family,
)


def _somebody(shares: dict[int, float]) -> dict[int, float]:
    if sum(shares.values()) <= 0:
        raise ValueError(
            "the satisfaction histogram is empty or all its values are 0; give a positive count or "
            "share for at least one score from 1 to 10"
        )
    return shares


Histogram = Annotated[
    dict[Annotated[int, Field(ge=MIN_SATISFACTION, le=MAX_SATISFACTION)], Annotated[float, Field(ge=0)]],
    AfterValidator(_somebody),
]
"""Counts or shares by satisfaction."""


class Parameters(BaseModel):
    """Parameters of a domain.

    `context_tokens`: the estimated tokens of the corpus that the backbone sees while it answers training cases.
    `query`: the memory query: the question, or the whole prompt as in the published code. `conversations`: the number
    of conversations used, from the first; 0 is all. `partition`: the paper's partition whose published scores are the
    reference. `variants`: additional variants; `published_code` reproduces errors of the published code and needs judge
    requests. `published_judge`: the user's statement that the judge is the published one, with the authors' prompts;
    without it, judged scores are not compared with published ones. `protocol`: when dialogues are written to memory and
    test cases are asked (paper, A.3): `off_policy`; `stepwise`, in batches of `batch` dialogues; `on_policy`, in
    `steps` steps of `batch` dialogues led by the assistant; `training`, which asks the training cases; `same`, which
    asks each training case before and after its own dialogue. `learn_from`: remember all dialogues, or only those with
    a liked or copied answer; in the latter case, all cases that are not test cases are training cases. `follow_ups`:
    whether the assistant answers on-policy follow-ups; in the published code it does not. `right`: LoCoMo users accept
    an F1 of at least 0.5; in the published code, above 0.5. `actions`: the action model. `calibration`: the
    satisfaction histogram for its rates: that of the domain, the published one, or histograms given by family. `noise`:
    the standard deviation of noise added to satisfaction before actions. `sample_training`: the training cases of a
    sample (`--limit`) about a corpus: only those that its test cases need, or a number proportional to its test cases.
    It applies to `off_policy` with complete dialogues.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    context_tokens: int = Field(30_000, ge=0)
    query: Literal["question", "prompt"] = "question"
    conversations: int = Field(0, ge=0)
    partition: Literal["open", "legal", "academic", "LiSo", "SiLo", "LiLo", "SiSo"] | None = None
    variants: tuple[Literal["published_code"], ...] = ()
    published_judge: bool = False
    protocol: Literal["off_policy", "stepwise", "on_policy", "training", "same"] = "off_policy"
    batch: int = Field(100, ge=1)
    steps: int = Field(10, ge=1)
    learn_from: Literal["dialogues", "liked", "copied"] = "dialogues"
    follow_ups: Literal["standard", "published_code"] = "standard"
    right: Literal["standard", "published_code"] = "standard"
    actions: ActionModel = ActionModel()
    calibration: Literal["own", "published"] | dict[Family, Histogram] = "own"
    noise: float = Field(0.0, ge=0, le=MAX_SATISFACTION)
    sample_training: Literal["needed", "proportional"] = "needed"

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.learn_from != "dialogues" and self.protocol != "off_policy":
            raise ValueError(
                f"learn_from {self.learn_from!r} can only be combined with the protocol off_policy; "
                "change one of them"
            )
        if self.follow_ups != "standard" and self.protocol != "on_policy":
            raise ValueError(
                f"follow_ups {self.follow_ups!r} can only be combined with the protocol on_policy; change "
                "one of them"
            )
        return self


def parameters_of(domain: Domain) -> Parameters:
    """Return the domain's parameters. Raises BadSettings with the invalid parameter."""
    return parse_parameters(Parameters, domain)
