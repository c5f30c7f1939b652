"""The parameters of LongMemEval's domains, which users set in memflow.toml."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, field_validator

from memflow.benchmarks.domains import Domain, parse_parameters

KS = (1, 3, 5, 10, 30, 50)
"""The published cutoffs of the retrieval metrics."""


class Config(BaseModel):
    """The parameters of a domain."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reading: Literal["direct", "notes"] = "notes"
    """How a question is answered: at once, or after notes on the history in the same reply (chain of note)."""
    known_errors: Literal["keep", "exclude"] = "keep"
    """Whether questions with a known error of the gold or evidence are asked. They have a slice in either case."""
    retrieval_k: tuple[int, ...] = (5, 10)
    """The cutoffs of the retrieval metrics, among 1, 3, 5, 10, 30 and 50."""

    @field_validator("retrieval_k")
    @classmethod
    def _published(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if wrong := sorted({*value} - {*KS}):
            raise ValueError(
                f"cutoffs: {wrong[0]} is not supported; use values among {', '.join(map(str, KS))}"
            )
        return tuple(sorted(set(value)))


def parse_config(domain: Domain) -> Config:
    """Return the parameters of a domain. Raises BadSettings for an invalid parameter."""
    return parse_parameters(Config, domain)
