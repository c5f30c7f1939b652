"""The prompts by name, narrowed to a request, and how values are written.

The texts themselves are in prompts/, the types in answers.py.
"""

import json
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from memflow.chat.prompts import Prompt, load

SIMULATOR = (
    "questions",
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
)
"""Prompts that the simulator is asked with."""

JUDGE = ("claims",)
"""Prompts that the judge is asked with."""


def prompt(stem: str, output: type[BaseModel] | None = None) -> Prompt:
    """The prompt `prompts/<stem>.md`, its output narrowed to `output` where that is given."""
    loaded = load("memflow.benchmarks.amemgym", stem)
    return loaded if output is None else replace(loaded, output=output)


def written(values: Any) -> str:
    """States, schemas and the like as prompts and tables show them: JSON, one pair a line."""
    return json.dumps(values, ensure_ascii=False, indent=1)


def numbered(options: list[str]) -> str:
    """Options as a multiple choice shows them: `1: ...`, one a line."""
    return "\n".join(f"{number}: {option}" for number, option in enumerate(options, 1))
