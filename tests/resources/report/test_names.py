"""Names of data files: safe as paths and URLs, and distinct for distinct texts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.errors import BadInput
from memflow.resources.report.names import LONGEST, data_name, encode_name


@given(st.text(min_size=1))
def test_name_has_only_characters_that_are_safe_in_files_and_urls(text: str) -> None:
    name = encode_name(text)
    assert re.fullmatch(r"[a-z0-9_~=-]+", name) and len(name) <= LONGEST


@given(st.text(), st.text())
def test_names_of_different_texts_differ_also_without_case(first: str, second: str) -> None:
    assert (encode_name(first).lower() == encode_name(second).lower()) == (first == second)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("amemgym_base~2", "amemgym_base~2"),
        ("A b", "=41=20b"),
        ("a/b%", "a=2fb=25"),
        ("..", "=2e=2e"),
        ("测", "=e6=b5=8b"),
        ("a" * 101, "a" * 90 + "==8868c4a8"),
    ],
)
def test_name_has_the_form_that_the_page_computes_too(text: str, name: str) -> None:
    assert encode_name(text) == name


def test_empty_part_of_a_name_is_rejected() -> None:
    with pytest.raises(BadInput, match="empty"):
        data_name("verdicts", "")
