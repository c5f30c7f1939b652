"""A domain: a benchmark configuration with its data sets. Domains are partition keys.

Each benchmark declares its domains in `<benchmark>/domains.toml` (domain_file.py). Users declare more in memflow.toml.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from memflow.benchmarks.domain_names import DEFAULT_PROFILE, DomainName, ProtocolProfile
from memflow.errors import BadSettings

if TYPE_CHECKING:
    from pydantic import BaseModel

    from memflow.chat.requests import Sampling, TokenBound

M = TypeVar("M", bound="BaseModel")


@dataclass(frozen=True)
class RoleDecoding:
    """The decoding settings of a role in a domain. None keeps the value of the model or of the role."""

    temperature: float | None = None
    output: int | None = None
    """Tokens of an answer, as `output` in [token_limits.ROLE]."""

    def applied(self, bound: "TokenBound", sampling: "Sampling") -> "tuple[TokenBound, Sampling]":
        """Return the given token limit and sampling parameters, with the values of this object that are not None."""
        if self.output is not None:
            bound = replace(bound, output=self.output)
        if self.temperature is not None:
            sampling = replace(sampling, temperature=self.temperature)
        return bound, sampling


@dataclass(frozen=True)
class Domain:
    """A benchmark configuration: the data sets to read, and parameters of the benchmark."""

    name: str
    benchmark: str
    datasets: tuple[str, ...]
    title: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 42
    listed: bool = True
    """Whether a domain of memflow's own is a partition by default. All others are run when they are named."""
    limit: int = 0
    """How many to take of what the benchmark counts (`BenchmarkSpec.unit`: users, contexts, ...); 0 takes all. The name
    of a domain with a limit is that of a sample (domain_names.py)."""
    profile: ProtocolProfile = DEFAULT_PROFILE
    decoding: Mapping[str, RoleDecoding] = field(default_factory=dict)
    """The decoding that the profile sets, by role."""

    @property
    def base(self) -> str:
        """The name of the domain without the limit of a sample. Seeds are derived from it, never from `name`."""
        return DomainName.parse(self.name).base

    def limited(self, limit: int) -> "Domain":
        """Return the sample of the domain with this limit, or the whole domain if the limit is 0."""
        name = DomainName.parse(self.name)._replace(limit=limit)
        return replace(self, name=str(name), limit=limit)


def parse_parameters(model: type[M], domain: Domain) -> M:
    """Return the domain's parameters as an instance of `model`. Raises BadSettings with the first invalid parameter."""
    from pydantic import ValidationError  # noqa: PLC0415  (listing domains validates nothing)

    try:
        return model.model_validate(dict(domain.parameters))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        # `loc` also holds names of union members and list positions, which are no names of parameters.
        names = [str(part) for part in first["loc"] if str(part).isidentifier()]
        parameter = f", parameter {'.'.join(names)}" if names else ""
        raise BadSettings(
            f"domain {domain.name}{parameter}: {first['msg']}, but the value is {first['input']!r:.100}. "
            "Fix it in memflow.toml."
        ) from error
