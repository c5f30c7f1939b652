"""Names of samples: parsing, invalid names, and the domain of a sample."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.registry import find_domain
from memflow.benchmarks.samples import MAX_LIMIT, base_of, is_sample, sample_in, sample_name
from memflow.errors import BadSettings

BASES = st.text(st.characters(exclude_characters="~"), min_size=1)


@given(base=BASES, limit=st.integers(1, MAX_LIMIT))
def test_name_of_a_sample_is_parsed_into_base_and_limit(base: str, limit: int) -> None:
    name = sample_name(base, limit)
    assert (sample_in(name), is_sample(name), base_of(name)) == ((base, limit), True, base)
    assert (sample_in(base), is_sample(base), base_of(base)) == ((base, 0), False, base)


@pytest.mark.parametrize(
    "name",
    [
        *("d~0", "d~-1", "d~x", "d~", "~2", "d~2~3", "d~02", "d~1_0", "d~ 2", "d~2.published", "d~\u0662"),
        f"d~{MAX_LIMIT + 1}",
    ],
)
def test_invalid_name_of_a_sample_is_rejected_with_the_valid_form(name: str) -> None:
    for parse in (sample_in, is_sample, base_of):
        with pytest.raises(
            BadSettings, match=f"{re.escape(repr(name))} is invalid. A sample is named DOMAIN~N"
        ):
            parse(name)


def test_limited_domain_has_the_name_of_a_sample_and_keeps_the_base() -> None:
    domain = find_domain("amemgym_base")
    sample = domain.limited(2)
    assert (sample.name, sample.limit, sample.base) == ("amemgym_base~2", 2, "amemgym_base")
    assert sample.limited(3).name == "amemgym_base~3"
    assert sample.limited(0) == domain.limited(0) == domain
