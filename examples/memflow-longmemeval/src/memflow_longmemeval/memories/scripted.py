"""The scripted model of the memories: facts are statements in the messages, notes are lines with question words."""

from memflow.benchmarks.scripted_reader import relevant_lines
from memflow.chat.requests import ChatRequest
from memflow.memories.script_helpers import statements
from memflow_longmemeval.memories.answers import Facts

_LENGTH, _COUNT = 400, 40


def _facts(request: ChatRequest) -> Facts:
    found = [each[:_LENGTH] for each in statements(request.fields["messages"])]
    return Facts(facts=found[:_COUNT])


def _note(request: ChatRequest) -> str:
    return relevant_lines(request.fields["chat"], request.fields["question"])[:2000] or "empty"


HANDLERS = {"memflow_longmemeval/facts": _facts, "memflow_longmemeval/note": _note}
"""The handlers by prompt name."""
