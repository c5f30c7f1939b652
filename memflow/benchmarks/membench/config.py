"""The parameters of a MemBench domain. Sizes of what is generated are the paper's by default."""

from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from memflow.benchmarks.domains import Domain, parse_parameters
from memflow.benchmarks.membench.kinds import KINDS, Scene


class Parameters(BaseModel):
    """What a domain may settle.

    Of published data, `factual`, `reflective` and `emotion` trajectories are drawn of each kind of question and
    scenario, by the domain's seed; None takes all there are. Where `graphs` is given, the domain is generated: so many
    users, and for each of them `each` trajectories of each kind and scenario.

    `noise_tokens` is the length in tokens that every trajectory is brought to by noise; 0 adds none. It goes between
    whole sessions, or between messages.

    `protocol` is when a trajectory's question is asked: at its `end`, or, to measure `capacity`, after every message
    from its last evidence on (paper, section 4.4).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    scene: Scene = "participation"
    language: Literal["en", "zh"] = "en"
    kinds: tuple[str, ...] = ()
    """The kinds of questions that are taken; none stands for all of the scene's."""
    scenarios: tuple[str, ...] = ()
    """The scenarios that are taken; none stands for all."""
    factual: int | None = Field(None, ge=0)
    reflective: int | None = Field(None, ge=0)
    emotion: int | None = Field(None, ge=0)

    noise_tokens: int = Field(0, ge=0, le=10_000_000)
    noise_between: Literal["sessions", "messages"] = "sessions"
    protocol: Literal["end", "capacity"] = "end"

    graphs: int | None = Field(None, ge=1, le=100_000)
    each: int = Field(1, ge=1, le=100)
    roles: int = Field(8, ge=2, le=10)
    """People that a trajectory is about; a session each where two speak."""
    events: int = Field(10, ge=2, le=12)
    role_rounds: int = Field(20, ge=2, le=40)
    """Rounds of a session about a person; a round is the user's words and the assistant's."""
    event_rounds: int = Field(10, ge=2, le=40)
    items: tuple[int, int] = (3, 5)
    """How many items are liked, at least and at most, from which a preference is to be seen."""
    fillers: tuple[int, int] = (2, 4)
    """How many rounds of talk follow each, at least and at most."""
    recommended: float = Field(0.4, ge=0, le=1)
    """How probably the assistant recommends a further item."""
    start: datetime = datetime(2024, 10, 1, 8, 0)

    @model_validator(mode="after")
    def _fit(self) -> Self:
        unknown = [name for name in self.kinds if name not in KINDS]
        if unknown:
            raise ValueError(f"kinds: there is no {', '.join(unknown)}; there are {', '.join(KINDS)}")
        for name in ("items", "fillers"):
            low, high = getattr(self, name)
            if not 1 <= low <= high <= 20:
                raise ValueError(f"{name}: give the least and the most, from 1 to 20")
        return self


def parameters_of(domain: Domain) -> Parameters:
    """The domain's parameters. Raises BadSettings naming the one that is wrong."""
    return parse_parameters(Parameters, domain)


def generated(domain: Domain) -> bool:
    """Whether the simulator makes the domain's users, trajectories and questions, and no file holds them."""
    return "graphs" in domain.parameters
