"""The prompts that ask an assistant the question of a probe.

Assistants do not reply during a trajectory. Replies are given, so that only the memory is measured (paper, section
3.2).
"""

from memflow.benchmarks.api import Question
from memflow.benchmarks.membench.wording import prompt
from memflow.benchmarks.multiple_choice import choice_of, lettered
from memflow.memories.memory import Recall
from memflow.records import Probe


def build_question(probe: Probe, recall: Recall, told: str | None) -> Question:
    """Return the prompt, its fields and the search query. As in the published code, the query is question and time."""
    time = probe.asked_at or ""
    fields = {"question": probe.question, "time": time, "options": lettered(probe.options)}
    output = choice_of(len(probe.options))
    query = f"{probe.question} ({time})" if time else probe.question
    if told is not None:
        return Question(prompt("choice_told", output, probe.language), {**fields, "told": told}, query)
    if recall.notes:
        with_notes = prompt("choice_with_notes", output, probe.language)
        return Question(with_notes, {**fields, "notes": recall.notes}, query)
    return Question(prompt("choice", output, probe.language), fields, query)
