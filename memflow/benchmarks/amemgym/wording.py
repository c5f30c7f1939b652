"""Functions that load AMemGym's prompts by name and that format values for prompts.

prompts/ has the texts and answers.py the output types. A prompt with a Chinese version has a second file `<stem>_zh.md`
with the same fields.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from memflow.chat import prompts
from memflow.chat.prompts import Prompt

PACKAGE = "memflow.benchmarks.amemgym"
JUDGE = ("claims",)
"""Prompts of the judge."""
_OF_ASSISTANTS = ("choice", "reply", "state")
"""How the names of the assistants' prompts begin."""
prompt = partial(prompts.load_in_language, PACKAGE)
"""Return a prompt of this benchmark by its stem, in a language."""


def simulator_prompts() -> list[Prompt]:
    """Return all prompts of the simulator, in all languages: those that are not of the assistants or the judge."""
    return [
        prompts.load(PACKAGE, stem)
        for stem in prompts.prompt_stems(PACKAGE)
        if not stem.startswith((*_OF_ASSISTANTS, *JUDGE))
    ]


def json_lines(values: Any) -> str:
    """Return values as JSON with one pair per line, for prompts and tables."""
    return json.dumps(values, ensure_ascii=False, indent=1)


def number_options(options: Sequence[str]) -> str:
    """Return the options of a multiple-choice question as numbered lines: `1: ...`."""
    return "\n".join(f"{number}: {option}" for number, option in enumerate(options, 1))


def with_time(sent_at: str, text: str) -> str:
    """Return a session's first message after a line with the simulated time, as in the published data."""
    return f"[Current Time: {sent_at}]\n{text}"
