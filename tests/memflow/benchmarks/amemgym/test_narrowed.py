"""Output types made for one request: their schema depends on the request alone, not on what the process made before."""

import pytest

from memflow.benchmarks.amemgym.answers import groups_of, values_of
from memflow.chat.requests import schema_of


@pytest.mark.parametrize("optional", [False, True])
def test_a_schema_does_not_depend_on_what_was_made_before(optional: bool) -> None:
    there = schema_of(values_of({"size": ["small", "large"]}, optional=optional))
    back = schema_of(values_of({"size": ["large", "small"]}, optional=optional))
    assert there["properties"] == back["properties"]


def test_groups_do_not_depend_on_what_was_made_before() -> None:
    there, back = (schema_of(groups_of(names)) for names in (("one", "two"), ("two", "one")))
    assert there["$defs"]["Group"]["properties"] == back["$defs"]["Group"]["properties"]
