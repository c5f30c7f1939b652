"""The prompt of a probe, as a choice or an open question, with the recalled notes or with the gold."""

from memflow.benchmarks.api import Question
from memflow.benchmarks.multiple_choice import choice_of, lettered
from memflow.chat.prompts import load_in_language
from memflow.memories.memory import Recall
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.retraction"


def build_question(probe: Probe, recall: Recall, gold_context: str | None) -> Question:
    """Return the prompt of a probe. The memory query is the question without its options."""
    stem, output = "open", None
    fields = {"question": probe.question, "time": probe.asked_at or ""}
    if probe.kind == "choice":
        stem, output = "choice", choice_of(len(probe.options))
        fields["options"] = lettered(probe.options)
    if gold_context is not None:
        stem, fields["told"] = f"{stem}_told", gold_context
    elif recall.notes:
        stem, fields["notes"] = f"{stem}_with_notes", recall.notes
    return Question(load_in_language(PACKAGE, stem, output, probe.language), fields, probe.question)
