"""The parameters of a BEAM domain."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from memflow.benchmarks.domains import Domain, parse_parameters

ContractName = Literal["published", "corrected"]


class BeamConfig(BaseModel):
    """BEAM's parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contracts: tuple[ContractName, ...] = Field(("corrected",), min_length=1)
    """The judge contracts under which each answer is judged, each a metric of its own."""
    text: Literal["truncated", "full"] = "truncated"
    """Which text of a conversation is played where there are two. The published loader takes the truncated one."""
    marker: Literal["kept", "removed"] = "kept"
    """Whether messages of the user end with the author's mark (`->-> 1,1`), which shows their order, as published."""
    dates: bool = False
    """Whether messages have the date of their batch as their time. The published code gives memories no dates."""
    arrivals: Literal["session", "exchange", "message"] = "exchange"
    """How messages are batched for a memory: whole sessions (batches), a question with all that follows it, or single
    messages."""
    known_errors: Literal["keep", "exclude"] = "keep"
    """Whether questions whose gold has a known error are asked. The others have a slice in either case."""

    @field_validator("contracts")
    @classmethod
    def _distinct(cls, value: tuple[ContractName, ...]) -> tuple[ContractName, ...]:
        if len(set(value)) < len(value):
            raise ValueError(f"contracts: {', '.join(value)} has a contract twice; list each once")
        return value


def parse_config(domain: Domain) -> BeamConfig:
    """Return the domain's parameters. Raises BadSettings with the invalid parameter."""
    return parse_parameters(BeamConfig, domain)
