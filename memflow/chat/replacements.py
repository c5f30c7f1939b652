"""The user's prompt files of this process: the files that replace packaged prompts, by prompt name.

The process that reads the settings sets them once, before steps start. So a file that changes
during a run does not change the run. prompts.py parses the files.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from memflow.errors import PromptError
from memflow.fingerprint import digest

if TYPE_CHECKING:
    from memflow.chat.prompts import Prompt


class PromptFile(NamedTuple):
    """A user's file: its path, its text, and the package and the roles of the prompt that it replaces."""

    path: str
    text: str
    package: str
    roles: tuple[str, ...]

    @property
    def digest(self) -> str:
        """The content hash, equal to the digest of the parsed prompt."""
        return digest(self.text)


Replacements = Mapping[str, PromptFile]
_replacements: Replacements = MappingProxyType({})


def replace_prompts(files: Replacements) -> None:
    """Replace prompts by name in this process, and end earlier replacements. Call this before steps start."""
    global _replacements  # noqa: PLW0603  (one assignment, so that other threads see the old or the new mapping)
    _replacements = MappingProxyType(dict(files))


def replacements() -> Replacements:
    """Return the user's files by prompt name."""
    return _replacements


def replacement(name: str) -> PromptFile | None:
    """Return the user's file for a prompt, or None if the packaged prompt is used."""
    return _replacements.get(name)


def check_contract(packaged: "Prompt", mine: "Prompt", where: str) -> None:
    """Raise PromptError with the file and every difference if `mine` cannot replace the packaged prompt."""
    if wrong := contract_faults(packaged, mine):
        said = " ".join(f"{what}. {fix}." for what, fix in wrong)
        raise PromptError(f"{where} cannot replace the prompt {packaged.name}: {said}")


def contract_faults(packaged: "Prompt", mine: "Prompt") -> list[tuple[str, str]]:
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
