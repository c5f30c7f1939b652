"""The prompt of a question: the recalled notes, or with the memory `oracle` the facts that the answer rests on."""

from memflow.benchmarks.api import Question
from memflow.chat.prompts import Prompt, load
from memflow.memories.memory import Recall
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.halumem"


def prompt(stem: str) -> Prompt:
    """Return a prompt of this package."""
    return load(PACKAGE, stem)


def build_question(probe: Probe, recall: Recall, gold_context: str | None) -> Question:
    """Return the prompt of a question."""
    notes = recall.notes if gold_context is None else gold_context
    fields = {"notes": notes, "date": probe.asked_at or "not known", "question": probe.question}
    return Question(prompt("answer"), fields, probe.question)
