"""The parameters of a LoCoMo domain. Most defaults are the values of the evaluation that introduced J (Mem0, 2025)."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from memflow.benchmarks.domains import Domain, parse_parameters

ContractName = Literal["j_2025", "j_2026", "j_strict"]
Category = Literal[1, 2, 3, 4, 5]


class LoCoMoConfig(BaseModel):
    """LoCoMo's parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contracts: tuple[ContractName, ...] = Field(("j_2025",), min_length=1)
    """The judge contracts under which each answer is judged, each a metric of its own."""
    judge_runs: int = Field(1, ge=1, le=20)
    """Number of judgments of each answer; the score is the mean over the runs."""
    categories: tuple[Category, ...] = Field((1, 2, 3, 4), min_length=1)
    """LoCoMo's categories: 1 multi-hop, 2 temporal, 3 open domain, 4 single-hop, 5 adversarial. Vendors
    leave category 5 out."""
    adversarial: Literal["options", "open"] = "options"
    """Whether questions of category 5 have LoCoMo's two options, or are open."""
    known_errors: Literal["kept", "left_out"] = "kept"
    """Whether questions whose answer key is known to be wrong are asked, or left out."""
    captions: Literal["shown", "left_out"] = "shown"
    """Whether messages contain the captions of shared images, as in LoCoMo's code, or the text alone, as for Mem0."""
    answer_prompt: Literal["memories", "short"] = "memories"
    """The prompt for answers: `memories`, as for Mem0 (reason with dates, few words), or `short`, as in LoCoMo's code
    (a short phrase; category 2 is asked for a date)."""
    arrivals: Literal["session", "pair", "message"] = "session"
    """How messages are batched for a memory: whole sessions, two messages as for Mem0, or single messages."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for name in ("contracts", "categories"):
            values = getattr(self, name)
            if twice := [value for value in values if values.count(value) > 1]:
                raise ValueError(f"{name}: {twice[0]} occurs twice; list each value once")
        return self


def parse_config(domain: Domain) -> LoCoMoConfig:
    """Return the domain's parameters. Raises BadSettings with the invalid parameter."""
    return parse_parameters(LoCoMoConfig, domain)
