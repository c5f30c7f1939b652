"""The parameters of a CoMem domain. The default is the value of the paper if the paper states one."""

from typing import Final, Literal, Self

from pydantic import Field, model_validator

from memflow.benchmarks.domains import Domain, parse_parameters
from memflow.benchmarks.models import StrictModel

UNKNOWN: Final = "unknown"
"""The label where the visible messages do not contain the answer."""


class CoMemConfig(StrictModel):
    """CoMem's parameters."""

    checkpoints: tuple[float, ...] = Field((0.25, 0.5, 0.75, 1.0), min_length=1, max_length=20)
    """Shares of a context after which the questions are asked (paper, section 3.1). Checkpoint 0 comes
    before the first message."""
    guess_key: Literal["first", "last"] = "first"
    """The checkpoint whose label is the gold at checkpoint 0 (the paper's "checkpoint 1" can mean
    either)."""
    keys: Literal["annotated", "rule", "published"] = "annotated"
    """The source of gold labels: annotated in two rounds (section 3.2.2); by rule, if the source states
    the message from which an answer is valid; or published, with the same label at all checkpoints."""
    ends: Literal["context", "question"] = "context"
    """Which messages a question sees that its source asks before the end of the context: as in the paper, the whole
    context at the last checkpoint, or only those before the question."""
    persona: Literal["interleaved", "left_out"] = "interleaved"
    """Whether PersonaMem's persona texts stay at the start of each session (section 3.2.1), or are left out."""
    arrivals: Literal["message", "tokens"] = "message"
    """How messages are batched for a memory: single messages, or messages of a session up to `arrival_tokens`. Memories
    with a buffer do their own chunking (paper, A.3.2)."""
    arrival_tokens: int = Field(300, ge=1, le=100_000)
    """Length in tokens of an arrival of whole messages, if `arrivals` is `tokens`."""
    per_scene: int = Field(1, ge=0, le=1_000)
    """DialSim: number of published questions sampled per scene; 0 for all."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if wrong := [share for share in self.checkpoints if not 0 < share <= 1]:
            raise ValueError(
                f"checkpoints: {wrong[0]} is no share of the context; use values above 0 and up to 1"
            )
        if list(self.checkpoints) != sorted(set(self.checkpoints)):
            raise ValueError(
                f"checkpoints: {list(self.checkpoints)} is not in ascending order or has a value twice; use "
                f"{sorted(set(self.checkpoints))}"
            )
        return self


def parse_config(domain: Domain) -> CoMemConfig:
    """Return the domain's parameters. Raises BadSettings with the invalid parameter."""
    return parse_parameters(CoMemConfig, domain)
