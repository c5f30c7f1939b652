"""Names of samples: `BASE~N` is the domain BASE with at most N of the units that its benchmark counts.

A sample is a partition of its own, so its results and those of the whole domain do not replace one another. Everything
that reaches a request, a seed or a row id uses the name of the base, so that a sample and the whole domain share their
completions. `Domain.limited` creates the domain of a sample; which units belong to it is up to the benchmark.
"""

import re

from memflow.errors import BadSettings

MARK = "~"
"""Separates the base from the limit. Names of other domains do not contain it."""
MAX_LIMIT = 999_999_999
_NAME = re.compile(rf"([^{MARK}]+){MARK}([1-9][0-9]{{0,8}})")


def sample_name(base: str, limit: int) -> str:
    """Return the name of the sample of a domain with this limit."""
    return f"{base}{MARK}{limit}"


def sample_in(name: str) -> tuple[str, int]:
    """Return the base and the limit in the name of a sample; the name itself and 0 for every other domain.

    Raises BadSettings for a name with `~` that is not the name of a sample, such as `amemgym_base~0`.
    """
    if MARK not in name:
        return name, 0
    found = _NAME.fullmatch(name)
    if found is None:
        raise BadSettings(
            f"the domain name {name!r} is invalid. A sample is named DOMAIN~N, with N from 1 to {MAX_LIMIT:,} and "
            "without leading zeros, such as amemgym_base~2; a profile comes before it (amemgym_base.published~2)."
        )
    return found[1], int(found[2])


def is_sample(name: str) -> bool:
    """Return whether a domain name is the name of a sample. Raises the error of `sample_in`."""
    return sample_in(name)[1] > 0


def base_of(name: str) -> str:
    """Return the name of the whole domain of a sample; other names unchanged. Raises the error of `sample_in`."""
    return sample_in(name)[0]
