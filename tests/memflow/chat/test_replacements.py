"""Replaced prompts: a user's file in place of a packaged prompt, and the contract between both."""

from collections.abc import Iterator

import pytest

from memflow.chat.prompts import contract_faults, load, load_in_language, load_packaged, packaged_text, parse
from memflow.chat.replacements import PromptFile, replace_prompts
from memflow.errors import PromptError

PACKAGE, STEM = "memflow.benchmarks.amemgym", "choice"
PACKAGED = packaged_text(PACKAGE, STEM)
OTHER = PACKAGED.replace("Choose the answer", "Pick the answer")


@pytest.fixture(autouse=True)
def _packaged_prompts() -> Iterator[None]:
    """End replacements after each test."""
    yield
    replace_prompts({})


def file(text: str) -> PromptFile:
    return PromptFile("mine/amemgym/choice.md", text, PACKAGE, ("assistant",))


def test_load_returns_the_user_prompt_until_the_replacement_ends() -> None:
    before = load(PACKAGE, STEM)
    replace_prompts({"amemgym/choice": file(OTHER)})
    mine = load(PACKAGE, STEM)
    assert "Pick the answer" in mine.render({"question": "Q", "options": "O"})[-1].content
    assert mine.digest == file(OTHER).digest != before.digest
    assert mine.output is before.output
    assert load_in_language(PACKAGE, STEM) == mine and load_packaged(PACKAGE, STEM) == before
    assert load(PACKAGE, "state") == load_packaged(PACKAGE, "state")
    replace_prompts({})
    assert load(PACKAGE, STEM) == before


@pytest.mark.parametrize(
    ("before", "after", "what", "fix"),
    [
        ("name: amemgym/choice", "name: amemgym/other", "its name is amemgym/other", "to amemgym/choice"),
        ("language: en", "language: zh", "its language is zh", "to en"),
        ("output: ChoiceAnswer", "output: Values", "its output is Values", "Set `output` to ChoiceAnswer"),
        ("# history\n", "", "no place for the conversation", "Add the line `# history`"),
        (
            "fields: [question, options]",
            "fields: [question, options, age]\nunused: [age]",
            "age are unknown",
            "options",
        ),
    ],
)
def test_check_contract_error_names_the_different_field_the_file_and_the_fix(
    before: str, after: str, what: str, fix: str
) -> None:
    text = PACKAGED.replace(before, after)
    [(found, needed)] = contract_faults(load(PACKAGE, STEM), parse(text, PACKAGE, "a file"))
    assert what in found and fix in needed
    replace_prompts({"amemgym/choice": file(text)})
    with pytest.raises(
        PromptError, match=r"mine/amemgym/choice\.md cannot replace the prompt amemgym/choice"
    ):
        load(PACKAGE, STEM)


def test_check_contract_rejects_a_missing_field_that_is_not_declared_unused() -> None:
    text = PACKAGED.replace("$options", "One or two?")
    missing = text.replace("[question, options]", "[question]")
    [(what, _)] = contract_faults(load(PACKAGE, STEM), parse(missing, PACKAGE, "a file"))
    assert what == "the fields options are missing"
    with pytest.raises(PromptError, match="text uses"):
        parse(text, PACKAGE, "a file")
    replace_prompts({"amemgym/choice": file(text.replace("output:", "unused: [options]\noutput:"))})
    [message] = load(PACKAGE, STEM).render({"question": "Q", "options": "O"})
    assert "One or two?" in message.content and "O\n" not in message.content


def test_parse_rejects_a_dollar_sign_that_starts_no_field() -> None:
    with pytest.raises(PromptError, match=r"Write `\$\$`"):
        parse(PACKAGED.replace("Choose", "For $5, choose"), PACKAGE, "a file")


def test_parse_reports_an_invalid_front_matter_in_one_line() -> None:
    with pytest.raises(PromptError, match=r"a file is invalid: max_tokens: .*integer") as raised:
        parse(PACKAGED.replace("max_tokens: 64", "max_tokens: many"), PACKAGE, "a file")
    assert "\n" not in str(raised.value)
