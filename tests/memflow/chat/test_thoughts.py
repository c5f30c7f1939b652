"""Thoughts between delimiters are separated from the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.chat.thoughts import SplitContent, split_thoughts

TAGS = ("<think>", "</think>")
PLAIN = st.text().filter(lambda text: "<" not in text and ">" not in text)


@pytest.mark.parametrize(
    ("content", "answer", "thoughts", "complete"),
    [
        ("Hello.", "Hello.", "", True),
        ("<think>\nWell.\n</think>\n\nHello.", "Hello.", "Well.", True),
        ("Well.\n</think>\nHello.", "Hello.", "Well.", True),
        ("<think>Well.", "", "Well.", False),
        ("<think>a</think>One.<think>b</think> Two.", "One. Two.", "ab", True),
        ("One.<think>b", "One.", "b", False),
        ("", "", "", True),
    ],
)
def test_split_thoughts_separates_tagged_thoughts(
    content: str, answer: str, thoughts: str, complete: bool
) -> None:
    assert split_thoughts(content, TAGS) == SplitContent(answer, thoughts, complete)


def test_split_thoughts_accepts_a_model_without_an_opening_delimiter() -> None:
    assert split_thoughts("Well.</think>Hello.", ("", "</think>")) == SplitContent("Hello.", "Well.", True)
    assert split_thoughts("Hello.", ("", "")) == SplitContent("Hello.", "", True)


@given(st.lists(st.tuples(PLAIN, PLAIN)), PLAIN)
def test_split_thoughts_separates_any_answer_and_thoughts(pairs: list[tuple[str, str]], last: str) -> None:
    content = "".join(f"{answer}<think>{thought}</think>" for answer, thought in pairs) + last
    split = split_thoughts(content, TAGS)
    assert split.complete
    assert split.answer == ("".join(answer for answer, _ in pairs) + last).strip()
    assert split.thoughts == "".join(thought for _, thought in pairs).strip()
