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
    EmbeddingModel,
    Fixed,
    Parameter,
    RoleModel,
    Setting,
    Temperature,
    TokenLimit,
    Variant,
)

SAME = "the same"
"""The text of a published code that does what its paper says."""

if TYPE_CHECKING:
    from pydantic import BaseModel


def every_domain(domain: Domain) -> bool:
    """Return True; the default condition, for points that apply to all domains of their benchmark."""
    return True


@dataclass(frozen=True)
class ProtocolPoint:
    """One point of a benchmark's protocol, with what the paper, the published code and memflow do.

    `paper` and `published` are "–" if the source does not specify the point, and "absent" if the code does not
    implement the point.
    """

    name: str
    """Lower case letters, digits and `_`; unique in the benchmark."""
    topic: str
    """What the point controls, in few words."""
    paper: str
    memflow: str
    """What memflow does, with the parameters that change it."""
    source: str
    """The section of the paper, and the file of the published code."""
    setting: Setting
    published: str = ""
    """What the published code does; empty if no code is public, so that the paper is the published protocol."""
    changes_scores: bool = True
    """Whether memflow's scores can differ from those of the published code because of the point."""
    concerns: Callable[[Domain], bool] = every_domain
    """Whether the point concerns a domain, such as only generated ones."""
    memories: tuple[str, ...] = ()
    """The memory systems that the point concerns; empty for all."""

    @property
    def published_value(self) -> Any:
        """The value in the published protocol; a text if the point is not adjustable."""
        if not isinstance(self.setting, Fixed):
            return self.setting.published
        return self.paper if self.published in ("", SAME) else self.published

    def deviates(self, value: Any) -> bool:
        """Return whether a run with this value differs from the published protocol. Fixed points ignore it."""
        if isinstance(self.setting, Fixed):
            return not self.setting.as_published
        if isinstance(self.setting, RoleModel | EmbeddingModel):  # servers put an owner before the name
            value = str(value).rpartition("/")[2]
        return bool(value != self.published_value)


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
    chosen = [each for each in settings if isinstance(each, Variant) and each.values.of(profile) is not None]
    return {metric: each.values.of(profile) for each in chosen for metric in each.metrics}
