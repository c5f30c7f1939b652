"""The names of domains: DOMAIN, DOMAIN.PROFILE, and with `~N` a sample of either. Only this module parses them.

A sample has at most N of the units that its benchmark counts. It is a partition of its own, so its results and those of
the whole domain do not replace one another. Everything that reaches a request, a seed or a row id uses the name without
the limit, so that a sample and the whole domain share their completions.
"""

import re
from typing import Literal, NamedTuple, get_args

from memflow.errors import BadSettings

ProtocolProfile = Literal["published", "paper", "memflow"]
"""The protocol of a domain: of the authors' code, of the paper, or of the paper with memflow's improvements."""
PROFILES: tuple[ProtocolProfile, ...] = get_args(ProtocolProfile)
DEFAULT_PROFILE: ProtocolProfile = "paper"
MARK = "~"
"""Separates the limit of a sample. Names of other domains do not contain it."""
MAX_LIMIT = 999_999_999
_SAMPLE = re.compile(rf"([^{MARK}]+){MARK}([1-9][0-9]{{0,8}})")


class DomainName(NamedTuple):
    """The parts of a domain's name. A limit of 0 is that of the whole domain; the default profile is not named."""

    stem: str
    profile: ProtocolProfile = DEFAULT_PROFILE
    limit: int = 0

    @classmethod
    def parse(cls, name: str) -> "DomainName":
        """Return the parts of a name. Raises BadSettings for a name with `~` of no sample, such as `amemgym_base~0`."""
        base, limit = name, 0
        if MARK in name:
            match = _SAMPLE.fullmatch(name)
            if match is None:
                raise BadSettings(
                    f"the domain name {name!r} is invalid. A sample is named DOMAIN~N, with N from 1 to {MAX_LIMIT:,} "
                    "and without leading zeros, such as amemgym_base~2; a profile comes before it "
                    "(amemgym_base.published~2)."
                )
            base, limit = match[1], int(match[2])
        stem, _, last = base.rpartition(".")
        for profile in PROFILES:
            if stem and last == profile != DEFAULT_PROFILE:
                return cls(stem, profile, limit)
        return cls(base, DEFAULT_PROFILE, limit)

    @property
    def base(self) -> str:
        """The name without the limit."""
        return self.stem if self.profile == DEFAULT_PROFILE else f"{self.stem}.{self.profile}"

    def __str__(self) -> str:
        return f"{self.base}{MARK}{self.limit}" if self.limit else self.base
