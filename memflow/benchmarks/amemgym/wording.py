"""The prompts by name, narrowed to a request, and how values are written.

The texts themselves are in prompts/, the types in answers.py. A prompt that is asked in Chinese too has a twin
`<stem>_zh.md` with the same fields.
"""

import json
from typing import Any

from pydantic import BaseModel

from memflow.chat import prompts
from memflow.chat.prompts import Prompt

PACKAGE = "memflow.benchmarks.amemgym"
SIMULATOR = (
    "portrait",
    "questions",
    "refine",
    "unify",
    "initial_state",
    "updates",
    "events",
    "opening",
    "utterance",
    "exposure",
    "utterance_again",
    "answers",
    "recover",
    "answer_again",
    "follow_up",
    "follow_up_published",
)
"""Prompts that the simulator is asked with."""

JUDGE = ("claims",)
"""Prompts that the judge is asked with."""


def prompt(stem: str, output: type[BaseModel] | None = None, language: str = "en") -> Prompt:
    """A prompt of this benchmark, as `chat.prompts.spoken` has it."""
    return prompts.load_in_language(PACKAGE, stem, output, language)


def twins() -> frozenset[str]:
    """The prompts of this benchmark that have a Chinese twin."""
    return prompts.translated_stems(PACKAGE)


def simulator_prompts() -> list[Prompt]:
    """Every prompt that the simulator is asked with, in every language."""
    chinese = [prompt(stem, language="zh") for stem in SIMULATOR if stem in twins()]
    return [prompt(stem) for stem in SIMULATOR] + chinese


def written(values: Any) -> str:
    """States, schemas and the like as prompts and tables show them: JSON, one pair a line."""
    return json.dumps(values, ensure_ascii=False, indent=1)


def numbered(options: list[str]) -> str:
    """Options as a multiple choice shows them: `1: ...`, one a line."""
    return "\n".join(f"{number}: {option}" for number, option in enumerate(options, 1))


def dated(sent_at: str, text: str) -> str:
    """A session's first message as it is sent: with its simulated time on a line before it, as published."""
    return f"[Current Time: {sent_at}]\n{text}"
