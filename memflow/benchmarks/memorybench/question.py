"""Functions that build the prompt of a question by task, category and language, for assistants and the backbone.

LoCoMo's prompts do not name the speakers, because every remembered line contains its speaker.
"""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks.catalog import task
from memflow.benchmarks.memorybench.tasks.dialsim import CHATBOTS
from memflow.benchmarks.memorybench.tasks.limitgen import ASPECTS
from memflow.benchmarks.memorybench.tasks.locomo import ADVERSARIAL
from memflow.chat.prompts import Prompt, load
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.memorybench"
_LOCOMO = {"2": "locomo_date", ADVERSARIAL: "locomo_choice"}


def build_prompt(probe: Probe, notes: str) -> tuple[Prompt, Mapping[str, Any]]:
    """Return the prompt of `probe` and the values of its fields by name. `notes` precede the question."""
    stem = task(probe.dataset).prompt
    if stem == "locomo":
        stem = _LOCOMO.get(probe.category or "", "locomo_short")
    elif stem == "answer":
        stem = f"answer_{probe.language}"
    prompt = load(PACKAGE, stem)
    known = {
        "notes": notes,
        "question": probe.question,
        "date": probe.asked_at or "",
        "name": CHATBOTS.get(probe.dataset, ""),
        "aspect": ASPECTS.get(probe.category or "", ""),
        **dict(zip("ab", probe.options, strict=False)),
    }
    return prompt, {name: known[name] for name in prompt.fields if name in known}


def full_question(probe: Probe) -> str:
    """Return the last user message of a question's prompt, without recalled notes and without the system message."""
    prompt, fields = build_prompt(probe, "")
    return prompt.render(fields)[-1].content


def search_query(probe: Probe, whole_prompt: bool) -> str:
    """Return the memory query of `probe`: the question or `full_question`."""
    return full_question(probe) if whole_prompt else probe.question


def build_retry_prompt(probe: Probe, notes: str, critique: str) -> tuple[Prompt, Mapping[str, Any]]:
    """Return the prompt for another answer after a critique, and its fields. The dialogue is the message history."""
    return load(PACKAGE, f"retry_{probe.language}"), {"notes": notes, "critique": critique}


def user_message(probe: Probe) -> str:
    """Return the text of the prompt for tasks without a corpus; for others, the question and its options."""
    if not task(probe.dataset).has_corpus:
        return full_question(probe)
    return " ".join(
        [probe.question, *(f"({name}) {text}" for name, text in zip("ab", probe.options, strict=False))]
    )


def answer_text(value: Any) -> str:
    """Return an answer as text, or as JSON if the answer has several parts."""
    if isinstance(value, BaseModel):
        return json.dumps(value.model_dump(), ensure_ascii=False)
    return str(value)
