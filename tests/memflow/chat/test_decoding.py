"""Decoding of JSON that models write: nesting, numbers, and characters that cannot be stored."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.chat.asking import parse_completion
from memflow.chat.decoding import LEVELS, decode_json, printable
from memflow.chat.requests import Completion
from memflow.memories.awi.answers import Facts

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=40,
)


@given(JSON)
def test_decode_json_returns_the_value_that_was_encoded(value: Any) -> None:
    def clean(part: Any) -> Any:
        if isinstance(part, str):
            return printable(part)
        if isinstance(part, dict):
            return {printable(key): clean(item) for key, item in part.items()}
        return [clean(item) for item in part] if isinstance(part, list) else part

    assert decode_json(json.dumps(value)) == clean(value)


@given(st.text(st.characters(codec=None), max_size=60))
def test_decode_json_raises_only_value_errors_for_arbitrary_text(text: str) -> None:
    for part in (text, f'"{text}"', f"[{text}", f'{{"a": {text}}}'):
        try:
            json.dumps(decode_json(part), ensure_ascii=False).encode()
        except UnicodeEncodeError:
            assert any(
                "\ud800" <= character <= "\udfff" for character in text
            )  # the caller's text, unescaped
        except ValueError:
            continue


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "levels of nesting"),
        ('{"a":' * (LEVELS + 1) + "1" + "}" * (LEVELS + 1), "levels of nesting"),
        ("NaN", "NaN is no JSON number"),
        ('{"a": -Infinity}', "-Infinity is no JSON number"),
        ("9" * 5000, "digits"),
        ('{"a": 1', "not JSON"),
        ("", "not JSON"),
    ],
)
def test_decode_json_states_why_a_text_is_rejected(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        decode_json(text)
    value, wrong = parse_completion(Completion(text or " "), Facts)
    assert value is None and wrong


def test_decode_json_accepts_brackets_in_strings_and_the_maximum_nesting() -> None:
    assert decode_json(json.dumps("[" * 100_000)) == "[" * 100_000
    assert decode_json("[" * LEVELS + "]" * LEVELS)


def test_decode_json_replaces_characters_that_cannot_be_stored() -> None:
    assert decode_json(r'{"a\u0000": ["\ud83d", "\ud83d\ude00"]}') == {"a\ufffd": ["\ufffd", "\U0001f600"]}
