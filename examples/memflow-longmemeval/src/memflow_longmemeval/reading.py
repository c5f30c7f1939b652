"""The prompt for a question: answered at once, or after notes; with the recalled text, or with recalled chat turns."""

from memflow.benchmarks.api import Question
from memflow.chat.prompts import load
from memflow.memories.memory import Recall
from memflow.records import Probe
from memflow_longmemeval.config import Config

PACKAGE = "memflow_longmemeval"


def build_question(config: Config, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
    """Return the prompt with its fields. The search query is the bare question without its date, as published."""
    notes = recall.notes if gold_context is None else gold_context
    fields = {"date": probe.asked_at or "", "question": probe.question}
    if not notes:
        return Question(load(PACKAGE, f"{config.reading}_turns"), fields, query=probe.question)
    return Question(load(PACKAGE, config.reading), {**fields, "notes": notes}, query=probe.question)
