"""The prompt of a probe: that of its source's family. The memory query is the question."""

from memflow.benchmarks.api import Question
from memflow.benchmarks.memoryagentbench.sources import family
from memflow.chat.prompts import load
from memflow.memories.memory import Recall
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.memoryagentbench"


def build_question(probe: Probe, recall: Recall, gold_context: str | None) -> Question:
    """Return the prompt of a probe with the recalled notes, or with the gold for the memory `oracle`."""
    asked = family(probe.category or "")
    assert asked is not None
    notes = recall.notes if gold_context is None else gold_context
    return Question(load(PACKAGE, asked.prompt), {"notes": notes, "question": probe.question}, probe.question)
