"""The parameters of a retraction domain."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.domains import Domain, parse_parameters

Language = Literal["en", "zh"]


class RetractionConfig(BaseModel):
    """Retraction's parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    languages: tuple[Language, ...] = Field(("en",), min_length=1)
    """The languages of the users; each language has `users` of them."""
    users: int = Field(20, ge=1, le=20)
    policy: Literal["on", "off"] = "off"
    """Whether the assistant replies itself (`on`), or replies are given (`off`)."""
    wording: Literal["templates", "simulator"] = "templates"
    """Whether the simulator rewords the users' messages. The examiner must read the same from the new words."""
    fillers: int = Field(3, ge=0, le=7)
    """Exchanges without a fact before each checkpoint but the first."""


def parse_config(domain: Domain) -> RetractionConfig:
    """Return the domain's parameters. Raises BadSettings with the invalid parameter."""
    return parse_parameters(RetractionConfig, domain)
