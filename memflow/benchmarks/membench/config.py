"""Parameters of a MemBench domain. Default sizes of generated data are those of the paper."""

from datetime import datetime
from typing import Literal, Self

from pydantic import Field, model_validator

from memflow.benchmarks.domains import Domain, parse_parameters
from memflow.benchmarks.membench.kinds import KINDS, Scene
from memflow.benchmarks.models import StrictModel


class Parameters(StrictModel):
    """Parameters of a MemBench domain. Domains with `graphs` are generated, others read published files."""

    scene: Scene = "participation"
    """Whether the user talks with an assistant, or is observed without replies."""
    language: Literal["en", "zh"] = "en"
    """The language of generated texts and prompts."""
    kinds: tuple[str, ...] = ()
    """Question kinds to include; empty for all kinds of the scene."""
    scenarios: tuple[str, ...] = ()
    """Scenarios to include; empty for all."""
    factual: int | None = Field(None, ge=0)
    """Number of factual trajectories per question kind and scenario, sampled by the domain's seed; all by
    default."""
    reflective: int | None = Field(None, ge=0)
    """Number of reflective trajectories about a preference; all by default."""
    emotion: int | None = Field(None, ge=0)
    """Number of reflective trajectories about an emotion; all by default."""

    noise_tokens: int = Field(0, ge=0, le=10_000_000)
    """Length in tokens to which noise extends each trajectory; 0 adds no noise."""
    noise_between: Literal["sessions", "messages"] = "sessions"
    """Whether noise is inserted between sessions or between messages."""
    protocol: Literal["end", "capacity"] = "end"
    """When a question is asked: at the end, or after every message from its last evidence on (section
    4.4)."""

    graphs: int | None = Field(None, ge=1, le=100_000)
    """Number of users to generate."""
    each: int = Field(1, ge=1, le=100)
    """Number of generated trajectories per user, question kind and scenario."""
    roles: int = Field(8, ge=2, le=10)
    """Number of people; in participation each has a session."""
    events: int = Field(10, ge=2, le=12)
    """Number of events; in participation each has a session."""
    role_rounds: int = Field(20, ge=2, le=40)
    """Rounds of a session about a person; a round is a user message and a reply."""
    event_rounds: int = Field(10, ge=2, le=40)
    """Rounds of a session about an event."""
    items: tuple[int, int] = (3, 5)
    """Minimum and maximum number of liked items that reveal a preference."""
    fillers: tuple[int, int] = (2, 4)
    """Minimum and maximum number of unrelated rounds after each item."""
    recommended: float = Field(0.4, ge=0, le=1)
    """Probability that the assistant recommends a further item."""
    start: datetime = datetime(2024, 10, 1, 8, 0)
    """The time of the first message of a generated trajectory."""

    @model_validator(mode="after")
    def _fit(self) -> Self:
        unknown = [name for name in self.kinds if name not in KINDS]
        if unknown:
            raise ValueError(
                f"kinds: unknown question kind {', '.join(unknown)}; use some of {', '.join(KINDS)}"
            )
        for name in ("items", "fillers"):
            low, high = getattr(self, name)
            if not 1 <= low <= high <= 20:
                raise ValueError(
                    f"{name}: [{low}, {high}] is not a minimum and a maximum from 1 to 20; change the values"
                )
        return self


def parameters_of(domain: Domain) -> Parameters:
    """Return the domain's parameters. Raises BadSettings with the invalid parameter."""
    return parse_parameters(Parameters, domain)


def generated(domain: Domain) -> bool:
    """Return whether the domain's users, trajectories and questions are generated instead of read from files."""
    return "graphs" in domain.parameters
