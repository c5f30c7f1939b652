"""What a protocol point sets: the kinds of settings, each with the value of a run as published and what sets it.

protocol.py has the points. resources/protocol_values.py reads the values of a run.
"""

from dataclasses import dataclass
from typing import Any

from memflow.benchmarks.domains import ProtocolProfile

ALL = "all"
"""The value of a sample without a limit."""
REPLACED, OWN_WORDS = "the authors' words", "memflow's words"
"""The values of prompts that the user's files replace, and of others."""
STANDARD = "standard"
"""The variant of a metric that tables show unless a profile chooses another."""


@dataclass(frozen=True)
class Values:
    """The values of a setting under the three profiles. None: the profile leaves the setting as it is."""

    published: Any = None
    paper: Any = None
    memflow: Any = None

    def of(self, profile: ProtocolProfile) -> Any:
        """Return the value under a profile."""
        return getattr(self, profile)


@dataclass(frozen=True)
class ProfiledSetting:
    """The base class of settings with values by profile."""

    values: Values

    @property
    def published(self) -> Any:
        """The value of a run as published."""
        return self.values.published


@dataclass(frozen=True)
class Parameter(ProfiledSetting):
    """A parameter of the domain's configuration. A profile sets it."""

    name: str

    @property
    def set_by(self) -> str:
        return f"parameters.{self.name}"


@dataclass(frozen=True)
class Temperature(ProfiledSetting):
    """The temperature of a role's requests, where a prompt file sets none. A profile sets it."""

    role: str

    @property
    def set_by(self) -> str:
        return f"temperature of roles.{self.role}"


@dataclass(frozen=True)
class TokenLimit(ProfiledSetting):
    """The bound on the tokens of a role's answers, or of its answers to one prompt. A profile sets it for the role."""

    role: str
    prompt: str = ""
    """The stem of a prompt of the benchmark with a bound of its own, which a role's bound can only raise."""

    @property
    def set_by(self) -> str:
        return f"bounds.{self.role}.output"


@dataclass(frozen=True)
class Variant(ProfiledSetting):
    """The variant of some metrics that tables show first. All variants are computed under every profile."""

    metrics: tuple[str, ...]

    @property
    def set_by(self) -> str:
        return "--profile"


@dataclass(frozen=True)
class MemoryParameter(ProfiledSetting):
    """A parameter of a memory, for assistants with this memory. The name of the memory sets it: `full_1024`."""

    memory: str
    name: str

    @property
    def set_by(self) -> str:
        return f"{self.name} of the memory {self.memory}"


@dataclass(frozen=True)
class RoleModel:
    """The model of a role. The settings name it; no profile can, because it needs an address and a key."""

    role: str
    published: str

    @property
    def set_by(self) -> str:
        return f"roles.{self.role}"


@dataclass(frozen=True)
class EmbeddingModel:
    """The embedder. The settings name it; no profile can."""

    published: str
    set_by: str = "embedder"


@dataclass(frozen=True)
class PromptText:
    """The wording of prompts. The user's prompt files replace them (docs/how-to/prompts.md); no profile can."""

    prompts: tuple[str, ...]
    """Stems of prompts of the benchmark."""
    imports: tuple[str, ...] = ()
    """Arguments of `memflow prompts import` for the texts that it can convert, with files of the published code."""
    published: str = REPLACED
    set_by: str = "prompts"


@dataclass(frozen=True)
class SampleLimit:
    """The number of users, test questions, ... of a run. `--limit` sets it."""

    published: str = ALL
    set_by: str = "--limit"


@dataclass(frozen=True)
class Fixed:
    """Not adjustable. `as_published` is whether memflow does what the published code does."""

    as_published: bool
    set_by: str = ""


Setting = (
    Parameter
    | Temperature
    | TokenLimit
    | Variant
    | MemoryParameter
    | RoleModel
    | EmbeddingModel
    | PromptText
    | SampleLimit
    | Fixed
)
"""How a point is set. `set_by` names the setting of memflow.toml or the option that sets it."""
