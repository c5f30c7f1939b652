"""Narrowed output types depend on their request only, not on earlier types of the process."""

import pytest

from memflow.benchmarks.amemgym.answers import groups_of, values_of
from memflow.chat.requests import schema_of


@pytest.mark.parametrize("optional", [False, True])
def test_schema_is_independent_of_earlier_types(optional: bool) -> None:
    there = schema_of(values_of({"size": ["small", "large"]}, optional=optional))
    back = schema_of(values_of({"size": ["large", "small"]}, optional=optional))
    assert there["properties"] == back["properties"]


def test_groups_are_independent_of_earlier_types() -> None:
    there, back = (schema_of(groups_of(names)) for names in (("one", "two"), ("two", "one")))
    assert there["$defs"]["Group"]["properties"] == back["$defs"]["Group"]["properties"]
