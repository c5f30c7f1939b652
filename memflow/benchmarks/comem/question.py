"""How a probe is put to an assistant. Contexts are given as they stand: nobody replies (given.py of the benchmarks)."""

from memflow.benchmarks.api import Question
from memflow.benchmarks.comem.wording import prompt
from memflow.benchmarks.multiple_choice import choice_of, lettered
from memflow.memories.memory import Recall
from memflow.records import Probe


def put(probe: Probe, recall: Recall, told: str | None) -> Question:
    """The probe as it is asked; a memory is searched with the question. Where the oracle is told nothing, at checkpoint
    0, it is asked as everybody is."""
    fields = {"question": probe.question, "options": lettered(probe.options)}
    output = choice_of(len(probe.options))
    if told:
        return Question(
            prompt("choice_told", output, probe.language), {**fields, "told": told}, probe.question
        )
    if recall.notes:
        with_notes = prompt("choice_with_notes", output, probe.language)
        return Question(with_notes, {**fields, "notes": recall.notes}, probe.question)
    return Question(prompt("choice", output, probe.language), fields, probe.question)
