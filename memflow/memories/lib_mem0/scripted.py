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
    said = request.fields["messages"].partition(_SAID)[2]
    facts = [sentence.removeprefix(LABELS["user"]) for sentence in statements(said, speaker="user")]
    return Facts(facts=[fact[:300] for fact in facts][:FACTS])


def _update(request: ChatRequest) -> Operations:
    """Return the update decisions: a fact replaces the memory with the same subject; other facts are added."""
    before, _, after = request.fields["messages"].rpartition(_NEW)
    facts: list[str] = _listed(after.rpartition(_END)[0])
    known: list[dict[str, str]] = _listed(before.rpartition(_KNOWN)[2]) if _KNOWN in before else []
    about = {subject(one["text"]): one for one in known}
    made: list[Operation] = []
    for fact in facts:
        old = about.pop(subject(fact), None)
        if old is None:
            made.append(Operation(id=str(len(known) + len(made)), text=fact, event="ADD"))
        else:
            event: Any = "NONE" if old["text"] == fact else "UPDATE"
            made.append(Operation(id=old["id"], text=fact, event=event, old_memory=old["text"]))
    return Operations(memory=made[:OPERATIONS])


def _listed(part: str) -> Any:
    """Return the list that a part of the prompt contains as Python code between its first and last code fence."""
    return literal_eval(part.partition("```")[2].rpartition("```")[0].strip())


HANDLERS: dict[str, Handler] = {EXTRACT: _extract, UPDATE: _update}
