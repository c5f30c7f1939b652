"""Names of domains: profile and limit, invalid names, and the domain of a sample."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.domain_names import MAX_LIMIT, PROFILES, DomainName
from memflow.benchmarks.registry import find_domain
from memflow.errors import BadSettings

STEMS = st.from_regex(r"[a-z_][a-z0-9_]{0,20}", fullmatch=True)


@given(stem=STEMS, profile=st.sampled_from(PROFILES), limit=st.integers(0, MAX_LIMIT))
def test_name_of_a_domain_is_parsed_into_its_parts(stem: str, profile, limit: int) -> None:
    name = DomainName(stem, profile, limit)
    assert DomainName.parse(str(name)) == name
    assert DomainName.parse(name.base) == name._replace(limit=0)


@pytest.mark.parametrize("name", ["", "published", ".published", "a.b", "a.paper", "a.published.x"])
def test_name_without_profile_is_its_own_stem(name: str) -> None:
    assert DomainName.parse(name) == DomainName(name)


@pytest.mark.parametrize(
    "name",
    [
        *("d~0", "d~-1", "d~x", "d~", "~2", "d~2~3", "d~02", "d~1_0", "d~ 2", "d~2.published", "d~\u0662"),
        f"d~{MAX_LIMIT + 1}",
    ],
)
def test_invalid_name_of_a_sample_is_rejected_with_the_valid_form(name: str) -> None:
    with pytest.raises(BadSettings, match=f"{re.escape(repr(name))} is invalid. A sample is named DOMAIN~N"):
        DomainName.parse(name)


def test_limited_domain_has_the_name_of_a_sample_and_keeps_the_base() -> None:
    domain = find_domain("amemgym_base")
    sample = domain.limited(2)
    assert (sample.name, sample.limit, sample.base) == ("amemgym_base~2", 2, "amemgym_base")
    assert sample.limited(3).name == "amemgym_base~3"
    assert sample.limited(0) == domain.limited(0) == domain
