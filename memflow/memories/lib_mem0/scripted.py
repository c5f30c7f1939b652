"""The scripted chat's handlers for mem0ai: the user's statements become facts, which replace facts on the same subject.

The handlers parse the package's own prompts, so they depend on the markers in them.
"""

from ast import literal_eval
from typing import Any

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.lib_mem0.answers import Facts, Operation, Operations
from memflow.memories.lib_mem0.awe import LABELS
from memflow.memories.lib_mem0.bridge import EXTRACT, UPDATE
from memflow.memories.script_helpers import statements, subject

FACTS, OPERATIONS = 32, 64
"""The most facts and operations of an answer."""

_SAID = "Input:\n"
_KNOWN, _NEW, _END = (
    "Below is the current content of my memory",
    "The new retrieved facts are mentioned",
    "You must return your response",
)


def _extract(request: ChatRequest) -> Facts:
    input_text = request.fields["messages"].partition(_SAID)[2]
    facts = [sentence.removeprefix(LABELS["user"]) for sentence in statements(input_text, speaker="user")]
    return Facts(facts=[fact[:300] for fact in facts][:FACTS])


def _update(request: ChatRequest) -> Operations:
    """Return the update decisions: a fact replaces the memory with the same subject; other facts are added."""
    head, _, tail = request.fields["messages"].rpartition(_NEW)
    facts: list[str] = _listed(tail.rpartition(_END)[0])
    memories: list[dict[str, str]] = _listed(head.rpartition(_KNOWN)[2]) if _KNOWN in head else []
    memory_of_subject = {subject(memory["text"]): memory for memory in memories}
    operations: list[Operation] = []
    for fact in facts:
        memory = memory_of_subject.pop(subject(fact), None)
        if memory is None:
            unused_id = str(len(memories) + len(operations))
            operations.append(Operation(id=unused_id, text=fact, event="ADD"))
        else:
            event: Any = "NONE" if memory["text"] == fact else "UPDATE"
            operations.append(Operation(id=memory["id"], text=fact, event=event, old_memory=memory["text"]))
    return Operations(memory=operations[:OPERATIONS])


def _listed(part: str) -> Any:
    """Return the list that a part of the prompt contains as Python code between its first and last code fence."""
    return literal_eval(part.partition("```")[2].rpartition("```")[0].strip())


HANDLERS: dict[str, Handler] = {EXTRACT: _extract, UPDATE: _update}
