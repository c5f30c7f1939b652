"""The prompt for a question: with the recalled notes, or after the recalled chat turns. The query is the question.

The published code asks as the long context does after all messages, and from notes alone after a search.
"""

from memflow.benchmarks.api import Question
from memflow.chat.prompts import Prompt, load
from memflow.memories.memory import Recall
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.beam"


def prompt(stem: str) -> Prompt:
    """Return a prompt of this benchmark by its stem."""
    return load(PACKAGE, stem)


def build_question(probe: Probe, recall: Recall, gold_context: str | None) -> Question:
    """Return the prompt of a probe with its fields; `answer_turns` has no notes."""
    notes = recall.notes if gold_context is None else gold_context
    if not notes:
        return Question(prompt("answer_turns"), {"question": probe.question}, probe.question)
    return Question(prompt("answer"), {"notes": notes, "question": probe.question}, probe.question)
