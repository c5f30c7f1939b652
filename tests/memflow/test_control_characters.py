"""Control characters in texts for people: symbols instead of effects."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.control_characters import json_escaped, visible

HARMLESS = "Zoë 記憶 😀 👩‍🚀 क्‍ष a\tb\nc"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x9b31m", "<U+009B>31m"),
        ("a\u202eb\u2066", "a<U+202E>b<U+2066>"),
        ("a\rb\r\nc", "a␍b\nc"),
        ("\x00\x7f", "␀␡"),
    ],
)
def test_control_characters_become_symbols(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_text_of_any_script_is_unchanged() -> None:
    assert visible(HARMLESS) == HARMLESS


@given(st.text())
def test_visible_text_has_no_control_character_and_no_direction_mark(text: str) -> None:
    shown = visible(text)
    assert not [each for each in shown if unicodedata.category(each) == "Cc" and each not in "\t\n"]
    assert not [
        each
        for each in shown
        if unicodedata.bidirectional(each) in ("RLO", "LRO", "RLE", "LRE", "PDF", "RLI")
    ]
    assert visible(shown) == shown


@given(st.text())
def test_escaped_json_has_the_same_value(text: str) -> None:
    escaped = json_escaped(json.dumps([text], ensure_ascii=False))
    assert json.loads(escaped) == [text]
    assert not [each for each in escaped if unicodedata.category(each) == "Cc"]
