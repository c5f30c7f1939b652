"""The parameters of a MemoryBench domain."""

from typing import Literal, Self

from pydantic import Field, model_validator

from memflow.benchmarks.domains import Domain, parse_parameters
from memflow.benchmarks.memorybench.users.action_model import MAX_SATISFACTION, ActionModel
from memflow.benchmarks.models import StrictModel


class Parameters(StrictModel):
    """Parameters of a MemoryBench domain."""

    context_tokens: int = Field(30_000, ge=0)
    """Estimated tokens of the corpus that the backbone sees while it answers training cases."""
    query: Literal["question", "prompt"] = "question"
    """The memory query: the question, or the whole prompt as in the published code."""
    partition: Literal["open", "legal", "academic", "LiSo", "SiLo", "LiLo", "SiSo"] | None = None
    """The paper's partition whose published scores are the reference of min-max and z scores."""
    variants: tuple[Literal["published_code"], ...] = ()
    """Additional metric variants; `published_code` reproduces errors of the published code, and needs
    judge requests."""
    published_judge: bool = False
    """The user's statement that the judge is the published one, with the authors' prompts; without it,
    judged scores are not compared with published ones."""
    protocol: Literal["off_policy", "stepwise", "on_policy", "training", "same"] = "off_policy"
    """When dialogues are written to memory and test cases are asked (paper, A.3): once, in batches, in
    steps led by the assistant, with training cases as probes, or for each training case before and after
    its own dialogue."""
    batch: int = Field(100, ge=1)
    """Number of dialogues of a batch or step."""
    steps: int = Field(10, ge=1)
    """Number of on-policy steps."""
    learn_from: Literal["dialogues", "liked", "copied"] = "dialogues"
    """Whether all dialogues are remembered, or only those with a liked or copied answer of all cases that
    are not test cases."""
    follow_ups: Literal["standard", "published_code"] = "standard"
    """Whether the assistant answers on-policy follow-ups; in the published code it does not."""
    right: Literal["standard", "published_code"] = "standard"
    """The F1 from which LoCoMo's users accept an answer: at least 0.5, or above 0.5 in the published
    code."""
    actions: ActionModel = ActionModel()
    """The action model."""
    calibration: Literal["own", "published"] = "own"
    """The population of satisfaction S for the rates of actions: that of the domain, or the published one."""
    noise: float = Field(0.0, ge=0, le=MAX_SATISFACTION)
    """Standard deviation of the noise that is added to S before the actions, in points (the paper's
    second noise)."""
    sample_training: Literal["needed", "proportional"] = "needed"
    """The training cases of a sample (`--limit`) about a corpus: those that its test cases need, or a
    number proportional to its test cases."""

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
