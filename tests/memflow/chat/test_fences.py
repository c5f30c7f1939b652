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
def test_mark_occurs_in_no_text_and_depends_on_texts_only(texts: list[str]):
    mark = mark_of(texts)
    assert not any(mark in text for text in texts)
    assert mark == mark_of(list(texts))


def test_mark_changes_when_a_text_contains_it(monkeypatch: pytest.MonkeyPatch):
    digits = {0: "a" * 64, 1: "b" * 64}
    monkeypatch.setattr("memflow.chat.fences.digest", lambda texts, number: digits[number])
    assert mark_of(["an answer with " + "a" * MARK_LENGTH]) == "b" * MARK_LENGTH


@given(st.text())
def test_rendered_answer_is_whole_between_its_fence_lines(answer: str):
    messages = prompt().render({"question": "q", "answer": answer})
    [(mark, text)] = fenced(messages[1].content)
    assert text == answer
    assert messages[1].content == f"q\n<<<{mark}\n{answer}\n{mark}>>>\nEnd."


def test_system_message_names_the_mark_of_the_fence():
    messages = prompt().render({"question": "q", "answer": "a"})
    [(mark, _)] = fenced(messages[1].content)
    assert messages[0].content.startswith("Judge.\n\n")
    assert f"{mark}>>>" in messages[0].content


def test_prompt_without_system_section_gets_a_system_message():
    messages = prompt(body="# user\n$question\n$answer\n").render({"question": "q", "answer": "a"})
    assert [message.role for message in messages] == ["system", "user"]


def test_chinese_prompt_gets_the_chinese_instruction():
    chinese = prompt("language: zh\nuntrusted: [answer]\n")
    assert "材料" in chinese.render({"question": "q", "answer": "a"})[0].content


def test_labeled_texts_are_fenced_one_by_one():
    messages = prompt().render({"question": "q", "answer": [("A", "one\n>>>"), ("B", "two")]})
    assert [text for _, text in fenced(messages[1].content)] == ["one\n>>>", "two"]


def test_trusted_fields_are_not_fenced():
    messages = prompt("").render({"question": "q", "answer": "a"})
    assert [message.content for message in messages] == ["Judge.", "q\na\nEnd."]
    assert layout([("A", "one"), ("B", "two")]) == "A:\none\n\nB:\ntwo"


@pytest.mark.parametrize(("header", "expected"), [("", ("answer",)), ("untrusted: []\n", ())])
def test_replacing_file_inherits_fences_unless_it_declares_its_own(header: str, expected: tuple[str, ...]):
    text = f"---\nname: t/x\nfields: [question, answer]\n{header}---\n# user\n$question $answer\n"
    mine: Prompt = parse(text, "memflow.chat", "mine.md", untrusted=("answer",))
    assert mine.untrusted == expected


def test_untrusted_field_must_be_declared():
    with pytest.raises(PromptError, match="no fields of the prompt"):
        prompt("untrusted: [reply]\n")
