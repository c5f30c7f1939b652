"""Kinds of settings that a protocol point can have, each with its published value and the option that changes it.

protocol.py has the points. resources/settings/protocol_values.py reads the values of a run.
"""

from dataclasses import dataclass
from typing import Any

from memflow.benchmarks.domain_names import ProtocolProfile

ALL = "all"
"""The value of a sample without a limit."""
REPLACED, OWN_WORDS = "the authors' words", "memflow's words"
"""The values of prompts that the user's files replace, and of others."""
STANDARD = "standard"
"""The variant of a metric that tables show unless a profile chooses another."""


@dataclass(frozen=True)
class Values:
    """The values of a setting under the three profiles. None means that the profile does not change the setting."""

    published: Any = None
    paper: Any = None
    memflow: Any = None

    def of(self, profile: ProtocolProfile) -> Any:
        """Return the value under a profile."""
        return getattr(self, profile)


@dataclass(frozen=True)
class ProfiledSetting:
    """The base class of settings whose value depends on the profile."""

    values: Values

    @property
    def published(self) -> Any:
        """The value in the published protocol."""
        return self.values.published


@dataclass(frozen=True)
class Parameter(ProfiledSetting):
    """A parameter of the domain, which a profile sets."""

    name: str

    set_by = "parameters.{name}"


@dataclass(frozen=True)
class Temperature(ProfiledSetting):
    """The temperature of a role's requests, which a profile sets. A temperature in a prompt file has precedence."""

    role: str

    set_by = "temperature of roles.{role}"


@dataclass(frozen=True)
class TokenLimit(ProfiledSetting):
    """The token limit of a role's answers, or of its answers to one prompt. A profile sets the limit of the role."""

    role: str
    prompt: str = ""
    """The stem of a prompt of the benchmark with a bound of its own, which a role's bound can only raise."""

    set_by = "token_limits.{role}.output"


@dataclass(frozen=True)
class Variant(ProfiledSetting):
    """The variant of some metrics that tables show first. All variants are computed under every profile."""

    metrics: tuple[str, ...]

    set_by = "DOMAIN.PROFILE"


@dataclass(frozen=True)
class MemoryParameter(ProfiledSetting):
    """A parameter of a memory, set in the memory's name, such as 1024 in `full_1024`."""

    memory: str
    name: str

    set_by = "{name} of the memory {memory}"


@dataclass(frozen=True)
class RoleModel:
    """The model of a role, named in the settings. No profile sets the model, because it needs an address and a key."""

    role: str
    published: str

    set_by = "roles.{role}"


@dataclass(frozen=True)
class EmbeddingModel:
    """The embedder, named in the settings. No profile sets the embedder."""

    published: str
    set_by: str = "embedder"


@dataclass(frozen=True)
class PromptText:
    """The wording of prompts. Only the user's prompt files can replace prompts (docs/how-to/extend.md)."""

    prompts: tuple[str, ...]
    """Stems of prompts of the benchmark, or names such as `awi/update`. A stem stands for its translation too."""
    published: str = REPLACED

    def names(self, benchmark: str) -> tuple[str, ...]:
        """Return the names of the prompts as BENCHMARK/PROMPT; `benchmark` completes those without one."""
        return tuple(prompt if "/" in prompt else f"{benchmark}/{prompt}" for prompt in self.prompts)

    set_by: str = "prompts"


@dataclass(frozen=True)
class SampleLimit:
    """The maximum number of users, test questions or other units in a run, set by `--limit`."""

    published: str = ALL
    set_by: str = "--limit"


@dataclass(frozen=True)
class Fixed:
    """A point that no setting changes. `as_published`: whether memflow does the same as the published code.

    `as_paper`: whether it does what the paper says; None if that is what the code does.
    """

    as_published: bool
    as_paper: bool | None = None
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
"""How a point is set. `set_by` names the setting of memflow.toml or the option that sets it, with fields in braces."""
