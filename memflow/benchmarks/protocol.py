"""Protocol points: the settings of a benchmark's paper and published code, and the protocol profiles that apply them.

A benchmark declares its points in `<benchmark>/protocol.py`, or in YAML, which protocol_file.py reads. The benchmark's
spec has the import path. Under another profile than DEFAULT_PROFILE, a domain is a separate domain `DOMAIN.PROFILE`.
Model profiles (resources/endpoints/profiles.py) describe servers and are unrelated.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memflow.benchmarks.domain_names import DEFAULT_PROFILE, DomainName, ProtocolProfile
from memflow.benchmarks.domains import Domain, RoleDecoding
from memflow.benchmarks.protocol_settings import (
    REPLACED,
    STANDARD,
    EmbeddingModel,
    Fixed,
    Parameter,
    ProfiledSetting,
    PromptText,
    RoleModel,
    Setting,
    Temperature,
    TokenLimit,
    Variant,
)

SAME = "the same"
"""The text of a published code that does what its paper says."""
UNSPECIFIED = ("", "–")
"""The texts of a point that the paper does not specify."""

if TYPE_CHECKING:
    from pydantic import BaseModel


def every_domain(domain: Domain) -> bool:
    """Return True; the default condition, for points that apply to all domains of their benchmark."""
    return True


@dataclass(frozen=True)
class ProtocolPoint:
    """One point of a benchmark's protocol, with what the paper, the published code and memflow do.

    `paper` and `published` are "–" if the source does not specify the point; `published` is "absent" if the code does
    not implement it.
    """

    name: str
    """Lower case letters, digits and `_`; unique in the benchmark."""
    topic: str
    """What the point controls, in a few words."""
    paper: str
    memflow: str
    """What memflow does, with the parameters that change it."""
    source: str
    """The section of the paper, and the file of the published code."""
    setting: Setting
    """What decides the point in memflow: a parameter, a variant, a prompt, or a fixed behavior."""
    published: str = ""
    """What the published code does; SAME if it does what the paper says.

    It is empty if no code is public, so that the paper is the published protocol.
    """
    changes_scores: bool = True
    """Whether memflow's scores can differ from those of the published code because of the point."""
    concerns: Callable[[Domain], bool] = every_domain
    """Whether the point concerns a domain, such as only generated ones."""
    memories: tuple[str, ...] = ()
    """The memory systems that the point concerns; empty for all."""
    paper_value: Any = None
    """The paper's value, where it is neither the published one nor set by the profile `paper`."""

    def reference(self, profile: ProtocolProfile = "published") -> Any:
        """Return the value that a run is compared with; a text if the point is fixed or a prompt.

        This is the paper's under the profile `paper` if the paper specifies the point, otherwise the published code's.
        """
        setting, by_paper = self.setting, self.is_of_paper(profile)
        if isinstance(setting, Fixed | PromptText):
            return self.paper if by_paper or self.published in ("", SAME) else self.published
        if not by_paper:
            return setting.published
        if isinstance(setting, Variant):
            return setting.values.paper or STANDARD
        of_profile = setting.values.paper if isinstance(setting, ProfiledSetting) else None
        values = (self.paper_value, of_profile, setting.published)
        return next(value for value in values if value is not None)

    def is_of_paper(self, profile: ProtocolProfile) -> bool:
        """Return whether a run under `profile` is compared with the paper rather than with the published code."""
        return profile == "paper" and self.paper not in UNSPECIFIED

    def deviates(self, value: Any, profile: ProtocolProfile = "published") -> bool:
        """Return whether a run with this value differs from its reference. Fixed points ignore the value."""
        if isinstance(self.setting, Fixed):
            as_paper = self.setting.as_paper if self.is_of_paper(profile) else None
            return not (self.setting.as_published if as_paper is None else as_paper)
        if isinstance(self.setting, PromptText):
            return bool(value != REPLACED)
        if isinstance(self.setting, RoleModel | EmbeddingModel):  # servers put an owner before the name
            value = str(value).rpartition("/")[2]
        return bool(value != self.reference(profile))


@dataclass(frozen=True)
class BenchmarkProtocol:
    """The protocol points of a benchmark, and the class of its domain parameters with their default values."""

    points: tuple[ProtocolPoint, ...] = ()
    parameters: "type[BaseModel] | None" = None
    code: str = ""
    """The repository of the published code, with its commit; empty without public code."""


def with_profile(domain: Domain, points: Iterable[ProtocolPoint], profile: ProtocolProfile) -> Domain:
    """Return the domain with the parameters and decoding of a profile, and the profile in its name.

    With the default profile, return the domain unchanged.
    """
    if profile == DEFAULT_PROFILE:
        return domain
    return replace(apply_profile(domain, points, profile), name=str(DomainName(domain.name, profile)))


def apply_profile(domain: Domain, points: Iterable[ProtocolPoint], profile: ProtocolProfile) -> Domain:
    """Return the domain with the parameters and decoding of a profile, and an unchanged name."""
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
    """Return the variant that tables show first under a profile, by metric. Other metrics show `standard`."""
    settings = [point.setting for point in points]
    chosen = [
        setting
        for setting in settings
        if isinstance(setting, Variant) and setting.values.of(profile) is not None
    ]
    return {metric: setting.values.of(profile) for setting in chosen for metric in setting.metrics}
