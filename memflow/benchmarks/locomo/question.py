"""Functions that build the prompt of a probe. The memory query is the question."""

from memflow.benchmarks.api import Question
from memflow.benchmarks.locomo.config import LoCoMoConfig
from memflow.chat.prompts import Prompt, load
from memflow.memories.memory import Recall
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.locomo"


def prompt(stem: str) -> Prompt:
    """Return a prompt of this benchmark by its stem."""
    return load(PACKAGE, stem)


def build_question(probe: Probe, recall: Recall, gold_context: str | None, config: LoCoMoConfig) -> Question:
    """Return the prompt of a probe. An adversarial question with options has a prompt of its own."""
    notes = recall.notes if gold_context is None else gold_context
    fields = {"notes": notes, "question": probe.question}
    if probe.options:
        options = dict(zip("ab", probe.options, strict=True))
        return Question(prompt("answer_choice"), {**fields, **options}, probe.question)
    stem = "answer_memories"
    if config.answer_prompt == "short":
        stem = "answer_date" if probe.category == "2" else "answer_short"
    return Question(prompt(stem), fields, probe.question)
