"""How a question is put to a model: the prompt and its fields, by the task's contract, category and language.

Assistants are asked test questions and the backbone training questions in the same words. LoCoMo's
questions do not name the two speakers in the prompt, as the published ones do in an order that changes from
run to run: every line that is remembered names its own.
"""

from collections.abc import Mapping
from typing import Any

from memflow.benchmarks.memorybench.tasks.catalogue import task
from memflow.benchmarks.memorybench.tasks.locomo import ADVERSARIAL
from memflow.chat.prompts import Prompt, load
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.memorybench"
_LOCOMO = {"2": "locomo_date", ADVERSARIAL: "locomo_choice"}


def put(probe: Probe, notes: str) -> tuple[Prompt, Mapping[str, Any]]:
    """The prompt for `probe` and its fields; `notes` stands before the question."""
    fields = {"notes": notes, "question": probe.question}
    stem = task(probe.dataset).prompt
    if stem == "locomo":
        stem = _LOCOMO.get(probe.category or "", "locomo_short")
        if probe.options:
            fields |= dict(zip("ab", probe.options, strict=True))
    elif stem == "answer":
        stem = f"answer_{probe.language}"
    return load(PACKAGE, stem), fields


def whole(probe: Probe) -> str:
    """The words around the question and the question, as a model is asked them by one who knows nothing."""
    prompt, fields = put(probe, "")
    return prompt.render(fields)[-1].content


def retry(probe: Probe, notes: str, critique: str) -> tuple[Prompt, Mapping[str, Any]]:
    """The prompt for another answer after a critique; the dialogue so far is its history."""
    return load(PACKAGE, f"retry_{probe.language}"), {"notes": notes, "critique": critique}


def spoken(probe: Probe) -> str:
    """The question as its user says it, with the options where there are any."""
    return " ".join(
        [probe.question, *(f"({name}) {text}" for name, text in zip("ab", probe.options, strict=False))]
    )
