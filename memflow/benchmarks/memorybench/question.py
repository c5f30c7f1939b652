"""How a question is put to a model: the prompt and its fields, by the task's contract, category and language.

Assistants are asked test questions and the backbone training questions in the same words. LoCoMo's
questions do not name the two speakers in the prompt, as the published ones do in an order that changes from
run to run: every line that is remembered names its own.
"""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks.catalogue import task
from memflow.benchmarks.memorybench.tasks.dialsim import CHATBOTS
from memflow.benchmarks.memorybench.tasks.limitgen import ASPECTS
from memflow.benchmarks.memorybench.tasks.locomo import ADVERSARIAL
from memflow.chat.prompts import Prompt, load
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.memorybench"
_ABOUT_A_CORPUS = ("locomo", "dialsim")
"""Prompts around questions that stand alone; what is added says how short the answer has to be."""
_LOCOMO = {"2": "locomo_date", ADVERSARIAL: "locomo_choice"}


def put(probe: Probe, notes: str) -> tuple[Prompt, Mapping[str, Any]]:
    """The prompt for `probe` and its fields; `notes` stands before the question."""
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


def whole(probe: Probe) -> str:
    """The words around the question and the question, as a model is asked them by one who knows nothing."""
    prompt, fields = put(probe, "")
    return prompt.render(fields)[-1].content


def query(probe: Probe, whole_prompt: bool) -> str:
    """What a memory is searched with for `probe`: the bare question, or all the words around it."""
    return whole(probe) if whole_prompt else probe.question


def retry(probe: Probe, notes: str, critique: str) -> tuple[Prompt, Mapping[str, Any]]:
    """The prompt for another answer after a critique; the dialogue so far is its history."""
    return load(PACKAGE, f"retry_{probe.language}"), {"notes": notes, "critique": critique}


def spoken(probe: Probe) -> str:
    """The question as its user says it: with the options where there are any, and with what is to be made of it where
    it does not say so itself (the facts of a case, a paper)."""
    if task(probe.dataset).prompt not in _ABOUT_A_CORPUS:
        return whole(probe)
    return " ".join(
        [probe.question, *(f"({name}) {text}" for name, text in zip("ab", probe.options, strict=False))]
    )


def written(value: Any) -> str:
    """An answer's value as text: JSON where it has parts."""
    if isinstance(value, BaseModel):
        return json.dumps(value.model_dump(), ensure_ascii=False)
    return str(value)
