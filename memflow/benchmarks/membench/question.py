"""How a probe is put to an assistant.

Nobody replies while a trajectory is played: what the assistant says is given (paper, section 3.2), so that a memory is
measured and not what stands around it (given.py of the benchmarks).
"""

from memflow.benchmarks.api import Question
from memflow.benchmarks.membench.wording import prompt
from memflow.benchmarks.multiple_choice import choice_of, lettered
from memflow.memories.memory import Recall
from memflow.records import Probe


def put(probe: Probe, recall: Recall, told: str | None) -> Question:
    """The probe as it is asked. A memory is searched with the question and its time, as in the published code."""
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
