"""Functions that load CoMem's prompts by name and build the prompt of a probe.

A prompt with a Chinese version has a second file `<stem>_zh.md` with the same fields.
"""

from functools import partial

from memflow.benchmarks.api import Question
from memflow.benchmarks.multiple_choice import choice_of, lettered
from memflow.chat.prompts import load_in_language
from memflow.memories.memory import Recall
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.comem"
prompt = partial(load_in_language, PACKAGE)
"""Return a prompt of this benchmark by its stem, in a language."""


def build_question(probe: Probe, recall: Recall, gold_context: str | None) -> Question:
    """Return the prompt of a probe. The memory query is the question.

    At checkpoint 0 the oracle has no gold context and gets the same prompt as every other memory.
    """
    fields = {"question": probe.question, "options": lettered(probe.options)}
    stem = "choice"
    if gold_context:
        stem, fields["told"] = "choice_told", gold_context
    elif recall.notes:
        stem, fields["notes"] = "choice_with_notes", recall.notes
    return Question(prompt(stem, choice_of(len(probe.options)), probe.language), fields, probe.question)
