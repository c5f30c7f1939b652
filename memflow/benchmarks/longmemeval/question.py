"""The prompt for a question: answered at once, or after notes; with the recalled text, or with recalled chat turns."""

from memflow.benchmarks.api import Question
from memflow.benchmarks.longmemeval.config import Config
from memflow.chat.prompts import Prompt, load
from memflow.memories.memory import Recall
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.longmemeval"


def prompt(stem: str) -> Prompt:
    """Return a prompt of this benchmark by its stem."""
    return load(PACKAGE, stem)


def build_question(config: Config, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
    """Return the prompt with its fields. The search query is the bare question without its date, as published."""
    notes = recall.notes if gold_context is None else gold_context
    fields = {"date": probe.asked_at or "", "question": probe.question}
    if not notes:
        return Question(prompt(f"{config.reading}_turns"), fields, query=probe.question)
    return Question(prompt(config.reading), {**fields, "notes": notes}, query=probe.question)
