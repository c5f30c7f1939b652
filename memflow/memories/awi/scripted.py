"""AWI's writer and evolver for the scripted chat. Statements are stored by subject; kinds match by shared words."""

import json
from collections.abc import Iterable
from typing import Any

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.awi.answers import Fact, Facts, Policy
from memflow.memories.script_helpers import statements, subject
from memflow.words import search_words

ANYTHING = "anything else"
"""A kind with these words matches every statement."""
SHARED = 4
"""The number of equal first letters (or all of the shorter word) from which two words match."""


def _update(request: ChatRequest) -> Facts:
    kinds = request.fields["kinds"]
    found = [each for each in statements(request.fields["messages"]) if _covered(subject(each), kinds)]
    said = {subject(sentence)[:60]: sentence[:200] for sentence in found}
    return Facts(facts=[Fact(label=label, value=value) for label, value in [*said.items()][:8]])


def _covered(about: str, kinds: str) -> bool:
    if ANYTHING in kinds.lower():
        return True
    known = search_words(kinds)
    return any(_alike(word, other) for word in search_words(about) for other in known)


def _alike(word: str, other: str) -> bool:
    letters = min(len(word), len(other), SHARED)
    return letters > 2 and word[:letters] == other[:letters]


def _evolve(request: ChatRequest) -> Policy:
    kinds = [line.partition(". ")[2] for line in request.fields["kinds"].split("\n")]
    feedback: dict[str, Any] = json.loads(request.fields["feedback"])
    told = [name.replace("_", " ") for period in feedback.get("told", {}).values() for name in period]
    asked = [each if isinstance(each, str) else each["question"] for each in feedback["questions"]]
    new = [kind for kind in (*_joined(told), *asked) if kind not in kinds]
    return Policy(kinds=[*kinds, *new][:16], changes=[f"added: {kind}"[:160] for kind in new][:8])


def _joined(names: Iterable[str]) -> list[str]:
    """Return texts of comma-separated names, each no longer than a kind of information may be."""
    pieces = [""]
    for name in dict.fromkeys(names):
        longer = f"{pieces[-1]}, {name}" if pieces[-1] else name
        pieces = [*pieces[:-1], longer] if len(longer) <= 300 else [*pieces, name[:300]]
    return [piece for piece in pieces if piece]


HANDLERS: dict[str, Handler] = {"awi/update": _update, "awi/evolve": _evolve}
