"""The contract between a packaged prompt and the user's prompt that replaces it (replacements.py)."""

from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel

from memflow.errors import PromptError


class PromptContract(Protocol):
    """The parts of a prompt (prompts.py) that a replacement must have as well."""

    @property
    def name(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def output(self) -> type[BaseModel] | None: ...
    @property
    def fields(self) -> Sequence[str]: ...
    @property
    def sections(self) -> Sequence[tuple[str, str]]: ...


def check_contract(packaged: PromptContract, mine: PromptContract, where: str) -> None:
    """Raise PromptError with the file and every difference if `mine` cannot replace the packaged prompt."""
    if wrong := contract_faults(packaged, mine):
        faults = " ".join(f"{fault}. {fix}." for fault, fix in wrong)
        raise PromptError(f"{where} cannot replace the prompt {packaged.name}: {faults}")


def contract_faults(packaged: PromptContract, mine: PromptContract) -> list[tuple[str, str]]:
    """Return the reasons why `mine` cannot replace the packaged prompt, as pairs of fault and fix.

    Name, fields, output type and language must be equal, and both or neither must have a section `# history`.
    """
    found = [
        (f"its {what} is {own}", f"Set `{what}` to {needed}")
        for what, own, needed in (
            ("name", mine.name, packaged.name),
            ("language", mine.language, packaged.language),
        )
        if own != needed
    ]
    own, needed = (None if each.output is None else each.output.__name__ for each in (mine, packaged))
    if own != needed:
        found.append(
            (f"its output is {own}", "Remove `output`" if needed is None else f"Set `output` to {needed}")
        )
    if missing := [name for name in packaged.fields if name not in mine.fields]:
        fix = "Add them to `fields`, and to the text or to `unused`"
        found.append((f"the fields {', '.join(missing)} are missing", fix))
    if unknown := [name for name in mine.fields if name not in packaged.fields]:
        found.append(
            (f"the fields {', '.join(unknown)} are unknown", f"Use only {', '.join(packaged.fields)}")
        )
    has_history, needs_history = ("history" in dict(each.sections) for each in (mine, packaged))
    if needs_history and not has_history:
        found.append(("it has no place for the conversation", "Add the line `# history`"))
    elif has_history and not needs_history:
        found.append(("it has a place for a conversation, but none is sent", "Remove the line `# history`"))
    return found
