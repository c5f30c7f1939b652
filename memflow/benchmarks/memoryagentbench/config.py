"""The parameters of a MemoryAgentBench domain."""

from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.domains import Domain, parse_parameters


class MemoryAgentBenchConfig(BaseModel):
    """MemoryAgentBench's parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: tuple[str, ...] = ()
    """The sources that are asked, such as `factconsolidation_mh_6k`; empty for all of the data set."""
    chunk_tokens: int = Field(4096, ge=0, le=100_000)
    """Estimated tokens of a chunk, which is a message; with 0, each line is a message."""
    instruction: bool = True
    """Whether each chunk begins with the request to memorize it, as in the published code."""
    questions: int = Field(0, ge=0)
    """Number of questions of each text, from the first; 0 for all."""


def parse_config(domain: Domain) -> MemoryAgentBenchConfig:
    """Return the domain's parameters. Raises BadSettings with the invalid parameter."""
    return parse_parameters(MemoryAgentBenchConfig, domain)
