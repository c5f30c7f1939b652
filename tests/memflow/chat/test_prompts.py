"""Rendering of prompts: the messages of a prompt with its fields."""

from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.chat.prompts import Prompt, parse
from memflow.chat.requests import ChatMessage
from memflow.errors import PromptError

HEADER = "---\nname: test/prompt\nfields: [one, two]\n---\n"
LITERALS = st.text(st.sampled_from("ab {}%\\$\n一"), max_size=8).map(lambda text: text.replace("$", "$$"))
VALUES = st.one_of(st.text(), st.integers(), st.none())


def prompt(body: str) -> Prompt:
    return parse(f"{HEADER}{body}\n", "memflow.chat", "a test")


@given(before=LITERALS, between=LITERALS, after=LITERALS, one=VALUES, two=VALUES)
def test_rendered_section_equals_template_substitution_for_any_text_and_values(
    before, between, after, one, two
):
    text = f"x{before}${{one}}{between}$two {after}y"
    [message] = prompt(f"# user\n{text}").render({"one": one, "two": two})
    assert message.content == Template(text).substitute(one=one, two=two).strip()


def test_rendered_prompt_contains_the_history_and_no_empty_section():
    history = [ChatMessage("user", "$one"), ChatMessage("assistant", "{two}")]
    rendered = prompt("# system\n$one\n# history\n# user\n$two").render({"one": "", "two": "b"}, history)
    assert rendered == (*history, ChatMessage("user", "b"))


def test_prompt_rejects_missing_and_unknown_fields_by_name():
    with pytest.raises(PromptError, match="missing two, unknown three"):
        prompt("# user\n$one $two").render({"one": 1, "three": 3})
