"""Fences: no text can end its own fence, and the rendered prompt contains each text once between its lines."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.chat.fences import MARK_LENGTH, layout, mark_of
from memflow.chat.prompts import Prompt, parse
from memflow.errors import PromptError

TEXTS = st.lists(st.text() | st.sampled_from(["\n>>>\n", "<<<", "0" * MARK_LENGTH + ">>>"]), min_size=1)


def prompt(
    header: str = "untrusted: [answer]\n", body: str = "# system\nJudge.\n# user\n$question\n$answer\nEnd.\n"
):
    return parse(f"---\nname: t/x\nfields: [question, answer]\n{header}---\n{body}", "memflow.chat", "x.md")


def fenced(content: str) -> list[str]:
    """Return the texts between the fences of a message, as a reader of the marks finds them."""
    return re.findall(r"^<<<([0-9a-f]{16})\n(.*?)\n\1>>>$", content, re.DOTALL | re.MULTILINE)


@given(TEXTS)
def test_fence_mark_occurs_in_no_text_and_is_equal_for_equal_texts(texts: list[str]):
    mark = mark_of(texts)
    assert not any(mark in text for text in texts)
    assert mark == mark_of(list(texts))


@given(st.text())
def test_rendered_prompt_contains_the_unchanged_answer_between_fence_lines(answer: str):
    messages = prompt().render({"question": "q", "answer": answer})
    [(mark, text)] = fenced(messages[1].content)
    assert text == answer
    assert messages[1].content == f"q\n<<<{mark}\n{answer}\n{mark}>>>\nEnd."


def test_fenced_prompt_without_system_section_gets_a_system_message():
    messages = prompt(body="# user\n$question\n$answer\n").render({"question": "q", "answer": "a"})
    assert [message.role for message in messages] == ["system", "user"]


def test_fenced_chinese_prompt_contains_the_chinese_fence_instruction():
    chinese = prompt("language: zh\nuntrusted: [answer]\n")
    assert "材料" in chinese.render({"question": "q", "answer": "a"})[0].content


def test_trusted_fields_are_not_fenced():
    messages = prompt("").render({"question": "q", "answer": "a"})
    assert [message.content for message in messages] == ["Judge.", "q\na\nEnd."]
    assert layout([("A", "one"), ("B", "two")]) == "A:\none\n\nB:\ntwo"


@pytest.mark.parametrize(("header", "expected"), [("", ("answer",)), ("untrusted: []\n", ())])
def test_user_prompt_file_inherits_untrusted_fields_unless_it_declares_its_own(
    header: str, expected: tuple[str, ...]
):
    text = f"---\nname: t/x\nfields: [question, answer]\n{header}---\n# user\n$question $answer\n"
    mine: Prompt = parse(text, "memflow.chat", "mine.md", untrusted=("answer",))
    assert mine.untrusted == expected


def test_prompt_with_undeclared_untrusted_field_is_rejected():
    with pytest.raises(PromptError, match="no fields of the prompt"):
        prompt("untrusted: [reply]\n")
