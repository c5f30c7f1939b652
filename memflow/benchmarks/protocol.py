"""Protocol points: what a benchmark's paper and published code fix, as data, and the protocol profiles that set them.

A benchmark declares its points in `<benchmark>/protocol.py`, or in YAML, which protocol_file.py reads. Its spec has the
import path. A domain under another profile than DEFAULT_PROFILE is a domain of its own, `DOMAIN.PROFILE`.
resources/protocol_values.py reads the values of a run. Model profiles (resources/endpoints/profiles.py) are unrelated.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memflow.benchmarks.domains import DEFAULT_PROFILE, PROFILES, Domain, ProtocolProfile, RoleDecoding

if TYPE_CHECKING:
    from pydantic import BaseModel


ALL = "all"
"""The value of a sample without a limit."""
REPLACED, OWN_WORDS = "the authors' words", "memflow's words"
"""The values of prompts that the user's files replace, and of others."""
STANDARD = "standard"
"""The variant of a metric that tables show unless a profile chooses another."""


@dataclass(frozen=True)
class Values:
    """The values of a point under the three profiles. None: the profile leaves the setting as it is."""

    published: Any = None
    paper: Any = None
    memflow: Any = None

    def of(self, profile: ProtocolProfile) -> Any:
        """Return the value under a profile."""
        return getattr(self, profile)


@dataclass(frozen=True)
class Parameter:
    """A parameter of the domain's configuration. A profile sets it."""

    name: str
    values: Values


@dataclass(frozen=True)
class Temperature:
    """The temperature of a role's requests, where a prompt file sets none. A profile sets it."""

    role: str
    values: Values


@dataclass(frozen=True)
class TokenLimit:
    """The bound on the tokens of a role's answers, or of its answers to one prompt. A profile sets it for the role."""

    role: str
    values: Values
    prompt: str = ""
    """The stem of a prompt of the benchmark with a bound of its own, which a role's bound can only raise."""


@dataclass(frozen=True)
class Variant:
    """The variant of a metric that tables show first. All variants are computed under every profile."""

    metric: str
    values: Values


@dataclass(frozen=True)
class MemoryParameter:
    """A parameter of a memory, for the assistants that use this memory. The name of the memory in settings sets it."""

    memory: str
    name: str
    values: Values


@dataclass(frozen=True)
class RoleModel:
    """The model of a role. The settings name it; no profile can, because it needs an address and a key."""

    role: str
    published: str


@dataclass(frozen=True)
class EmbeddingModel:
    """The embedder. The settings name it; no profile can."""

    published: str


@dataclass(frozen=True)
class PromptText:
    """The wording of prompts. The user's prompt files replace them (docs/how-to/prompts.md); no profile can."""

    prompts: tuple[str, ...]
    """Stems of prompts of the benchmark."""
    imports: tuple[str, ...] = ()
    """Arguments of `memflow prompts import` for the texts that it can convert, with files of the published code."""


@dataclass(frozen=True)
class SampleLimit:
    """The number of users, test questions, ... of a run; published: all. `--limit` sets it."""


@dataclass(frozen=True)
class Fixed:
    """Not adjustable. `as_published` is whether memflow does what the published code does."""

    as_published: bool


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
"""How a point is set."""


def every_domain(domain: Domain) -> bool:
    """Return true: the point concerns all domains of its benchmark."""
    return True


@dataclass(frozen=True)
class ProtocolPoint:
    """One point of a benchmark's protocol, with what the paper, the published code and memflow do.

    `paper` and `published` are "–" where the source does not specify the point, and "absent" where the code does not
    implement it.
    """

    name: str
    """Lower case letters, digits and `_`; unique in the benchmark."""
    topic: str
    """What the point controls, in few words."""
    paper: str
    published: str
    memflow: str
    """What memflow does, with the parameters that change it."""
    source: str
    """The section of the paper, and the file of the published code."""
    setting: Setting
    changes_scores: bool = True
    """Whether memflow's scores can differ from those of the published code because of the point."""
    concerns: Callable[[Domain], bool] = every_domain
    """Whether the point concerns a domain, such as only generated ones."""

    @property
    def published_value(self) -> Any:
        """The value that a run as published has, in the form of resources/protocol_values.py; a text for others."""
        setting = self.setting
        if isinstance(setting, RoleModel | EmbeddingModel):
            return setting.published
        if isinstance(setting, SampleLimit):
            return ALL
        if isinstance(setting, PromptText):
            return REPLACED
        return self.published if isinstance(setting, Fixed) else setting.values.published

    def deviates(self, value: Any) -> bool:
        """Return whether a run with this value differs from the published protocol."""
        setting = self.setting
        if isinstance(setting, Fixed):
            return not setting.as_published
        if isinstance(setting, RoleModel | EmbeddingModel):  # servers put an owner before the name
            return str(value).rpartition("/")[2] != setting.published
        return bool(value != self.published_value)


@dataclass(frozen=True)
class BenchmarkProtocol:
    """The protocol points of a benchmark, and the model of its domain parameters, which has their defaults."""

    points: tuple[ProtocolPoint, ...] = ()
    parameters: "type[BaseModel] | None" = None
    code: str = ""
    """The repository of the published code, with its commit; empty without public code."""


def profile_in(name: str) -> tuple[str, ProtocolProfile]:
    """Return the domain and the profile of a name such as `amemgym_base.published`; without one, the default."""
    stem, _, last = name.rpartition(".")
    for profile in PROFILES:
        if stem and last == profile and profile != DEFAULT_PROFILE:
            return stem, profile
    return name, DEFAULT_PROFILE


def with_profile(domain: Domain, points: Iterable[ProtocolPoint], profile: ProtocolProfile) -> Domain:
    """Return the domain under a profile: its parameters and decoding set, and the profile in its name.

    The default profile returns the domain as it is.
    """
    if profile == DEFAULT_PROFILE:
        return domain
    return replace(apply_profile(domain, points, profile), name=f"{domain.name}.{profile}")


def apply_profile(domain: Domain, points: Iterable[ProtocolPoint], profile: ProtocolProfile) -> Domain:
    """Return the domain with the parameters and decoding of a profile, under its own name."""
    parameters: dict[str, Any] = dict(domain.parameters)
    decoding: dict[str, RoleDecoding] = {}
    for point in points:
        setting = point.setting
        if not isinstance(setting, Parameter | Temperature | TokenLimit) or not point.concerns(domain):
            continue
        value = setting.values.of(profile)
        if value is None:
            continue
        if isinstance(setting, Parameter):
            parameters[setting.name] = value
        else:
            name = "temperature" if isinstance(setting, Temperature) else "output"
            decoding[setting.role] = replace(decoding.get(setting.role, RoleDecoding()), **{name: value})
    return replace(domain, parameters=parameters, decoding=decoding, profile=profile)


def variants(points: Iterable[ProtocolPoint], profile: ProtocolProfile) -> Mapping[str, str]:
    """Return the variant that tables show first under a profile, by metric; others show `standard`."""
    settings: Sequence[Setting] = [point.setting for point in points]
    chosen = {each.metric: each.values.of(profile) for each in settings if isinstance(each, Variant)}
    return {metric: variant for metric, variant in chosen.items() if variant is not None}
