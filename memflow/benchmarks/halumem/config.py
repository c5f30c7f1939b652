"""The parameters of a HaluMem domain."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.domains import Domain, parse_parameters


class HaluMemConfig(BaseModel):
    """HaluMem's parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dates: Literal["messages", "sessions"] = "messages"
    """The date of a message: its own, or the start of its session, as in the published code."""
    sessions: int = Field(0, ge=0)
    """Number of sessions of each user, from the first; 0 for all."""
    update_k: int = Field(10, ge=1, le=1000)
    """Texts that a search for an updated fact shows to the judge, best first."""


def parse_config(domain: Domain) -> HaluMemConfig:
    """Return the domain's parameters. Raises BadSettings with the invalid parameter."""
    return parse_parameters(HaluMemConfig, domain)
