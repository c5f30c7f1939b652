"""The user's prompt files of this process: the files that replace packaged prompts, by prompt name.

The process that reads the settings sets them once, before steps start. So a file that changes
during a run does not change the run. prompts.py parses the files.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from memflow.fingerprint import digest


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
