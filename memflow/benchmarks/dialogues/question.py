"""Functions that load the prompts and build the prompt of a probe. A Chinese version has the ending `_zh`."""

from functools import partial

from memflow.benchmarks.api import Question
from memflow.benchmarks.multiple_choice import choice_of, lettered
from memflow.chat.prompts import load_in_language
from memflow.memories.memory import Recall
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.dialogues"
prompt = partial(load_in_language, PACKAGE)
"""Return a prompt of this benchmark by its stem, in a language."""


def build_question(probe: Probe, recall: Recall, gold_context: str | None) -> Question:
    """Return the prompt of a probe. The memory query is the question."""
    dated = f"[{probe.asked_at}] {probe.question}" if probe.asked_at else probe.question
    fields = {"question": dated}
    if probe.options:
        fields["options"] = lettered(probe.options)
    stem = probe.kind
    if gold_context is not None:
        stem, fields["known"] = f"{stem}_known", gold_context
    elif recall.notes:
        stem, fields["notes"] = f"{stem}_with_notes", recall.notes
    output = choice_of(len(probe.options)) if probe.options else None
    return Question(prompt(stem, output, probe.language), fields, probe.question)
