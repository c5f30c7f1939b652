"""How CoMem asks: its prompts by name, and the words of the option that is added where there is no telling.

Texts of prompts are in prompts/, their types in answers.py. A prompt that is asked in Chinese too has a twin
`<stem>_zh.md` with the same fields.
"""

from pydantic import BaseModel

from memflow.chat import prompts
from memflow.chat.prompts import Prompt

PACKAGE = "memflow.benchmarks.comem"
UNKNOWING = {"en": "I don't know.", "zh": "我不知道。"}


def prompt(stem: str, output: type[BaseModel] | None = None, language: str = "en") -> Prompt:
    """A prompt of this benchmark, as `chat.prompts.spoken` has it."""
    return prompts.load_in_language(PACKAGE, stem, output, language)


def twins() -> frozenset[str]:
    """The prompts of this benchmark that have a Chinese twin."""
    return prompts.translated_stems(PACKAGE)
