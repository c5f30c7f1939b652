"""Conversion of published prompts: texts of Python and JSON files, placeholders, and the written file."""

import json
from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.chat.prompt_import import json_text, prompt_file, python_text, with_fields
from memflow.chat.prompts import load_packaged, packaged_text, parse
from memflow.errors import BadInput

PACKAGE = "memflow.benchmarks.amemgym"
SOURCE = '''
import no_such_module
PLAIN: str = "Say {query}."
STRIPPED = """
two
lines
""".strip()
JOINED = "one " + ("two " "three")
INDENTED = textwrap.dedent("""\\
    first
      second""")
TEXTS = {"en": "hello", "list": ["a", "b"], "code": open("nothing").read()}
AGE = 3
MADE = f"{AGE} years"
raise SystemExit("this file must not be executed")
'''


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("PLAIN", "Say {query}."),
        ("STRIPPED", "two\nlines"),
        ("JOINED", "one two three"),
        ("INDENTED", "first\n  second"),
        ("TEXTS.en", "hello"),
        ("TEXTS.list.1", "b"),
    ],
)
def test_python_text_reads_literal_constants_without_executing_the_file(key: str, text: str) -> None:
    assert python_text(SOURCE, key, "prompts.py") == text


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("NOTHING", "has no constant 'NOTHING'. Use one of: AGE, INDENTED"),
        ("MADE", "MADE is an f-string at line 14"),
        ("AGE", "AGE is not a literal text at line 13"),
        ("TEXTS.code", "TEXTS.code is not a literal text at line 12"),
        ("TEXTS", "several texts. Add one of these keys after a dot: en, list, code"),
        ("TEXTS.zh", "there is no key 'zh'. Keys there: en, list, code"),
        ("PLAIN.en", "there is no key 'en'. Keys there: none"),
    ],
)
def test_python_text_rejects_constants_that_are_not_literal_texts(key: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        python_text(SOURCE, key, "prompts.py")


def test_json_text_reads_keys_and_indices() -> None:
    source = json.dumps({"prompts": {"overall": "Say {x}"}, "messages": [{"content": "hi"}], "n": 3})
    assert json_text(source, "prompts.overall", "p.json") == "Say {x}"
    assert json_text(source, "messages.0.content", "p.json") == "hi"
    for key, said in (
        ("prompts", "not a text, but a dict"),
        ("prompts.other", "no key 'other'. Keys there: overall"),
        ("n", "not a text, but a int"),
        ("messages.7", "no key '7'. Keys there: 0"),
    ):
        with pytest.raises(BadInput, match=said):
            json_text(source, key, "p.json")
    with pytest.raises(BadInput, match="is not a JSON file"):
        json_text("{", "a", "p.json")


NAMES = ("query", "choices")
TEXTS = st.lists(st.sampled_from([*"ab $\n#", "{{", "}}", "$x", *(f"{{{name}}}" for name in NAMES)])).map(
    "".join
)


@given(text=TEXTS, query=st.text(), choices=st.text())
def test_converted_prompt_renders_like_the_original_format_string(text, query, choices) -> None:
    found = Template(with_fields(text, {"query": "question"}))
    assert found.substitute(question=query, choices=choices) == text.format(query=query, choices=choices)


def test_with_fields_replaces_only_placeholders_of_the_given_style() -> None:
    assert (
        with_fields("<<<QUESTION>>> {x} $5", {"QUESTION": "question"}, "<<<NAME>>>") == "${question} {x} $$5"
    )
    assert with_fields('{question} as {"a": 1}', {}, "{NAME}") == '${question} as {"a": 1}'
    with pytest.raises(BadInput, match="no NAME"):
        with_fields("x", {}, "<<<>>>")


@pytest.mark.parametrize("text", ["{x.y}", "{x!r}", "{x:>3}", '{"a": 1}', "{open"])
def test_with_fields_rejects_unsupported_placeholders_and_names_the_option(text: str) -> None:
    with pytest.raises(BadInput, match=r"--placeholder '\{NAME\}'"):
        with_fields(text, {})


def test_prompt_file_has_front_matter_and_history_section_of_packaged_prompt() -> None:
    packaged, text = load_packaged(PACKAGE, "choice"), packaged_text(PACKAGE, "choice")
    made = prompt_file(packaged, text, {"system": "Be brief.", "user": "${question}\n"})
    assert made.startswith("---\nname: amemgym/choice\n") and "unused: [options]\n---\n# system\n" in made
    mine = parse(made, PACKAGE, "a file")
    assert [role for role, _ in mine.sections] == ["system", "history", "user"]
    assert (mine.fields, mine.output, mine.max_tokens) == (
        packaged.fields,
        packaged.output,
        packaged.max_tokens,
    )


def test_prompt_file_rejects_unknown_fields_and_lines_that_start_a_section() -> None:
    packaged, text = load_packaged(PACKAGE, "choice"), packaged_text(PACKAGE, "choice")
    with pytest.raises(
        BadInput, match=r"placeholders query are no fields of amemgym/choice.*question, options"
    ):
        prompt_file(packaged, text, {"user": "${query}"})
    with pytest.raises(BadInput, match="starts a section"):
        prompt_file(packaged, text, {"user": "a\n# user\nb"})
