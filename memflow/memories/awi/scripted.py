"""The scripted chat's handlers for AWI. Statements are stored by subject; kinds match by shared words."""

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
    sentences = [text for text in statements(request.fields["messages"]) if _is_covered(text, kinds)]
    facts = {subject(text)[:60]: text[:200] for text in sentences}
    return Facts(facts=[Fact(label=label, value=value) for label, value in [*facts.items()][:8]])


def _is_covered(statement: str, kinds: str) -> bool:
    if ANYTHING in kinds.lower():
        return True
    kind_words = search_words(kinds)
    return any(_share_prefix(word, kind_word) for word in search_words(statement) for kind_word in kind_words)


def _share_prefix(word: str, kind_word: str) -> bool:
    letters = min(len(word), len(kind_word), SHARED)
    return letters > 2 and word[:letters] == kind_word[:letters]


def _evolve(request: ChatRequest) -> Policy:
    """Return the kinds of information with those that the feedback's states and questions ask for, at most 16."""
    kinds = [line.partition(". ")[2] for line in request.fields["kinds"].split("\n")]
    feedback: dict[str, Any] = json.loads(request.fields["feedback"])
    states = [state for period in feedback.get("told", {}).values() for state in period.items()]
    state_names = [f"{name} ({value})".replace("_", " ") for name, value in states]
    questions = [item if isinstance(item, str) else item["question"] for item in feedback["questions"]]
    new_kinds = [kind for kind in (*_join_names(state_names), *questions) if kind not in kinds]
    return Policy(kinds=[*kinds, *new_kinds][:16], changes=[f"added: {kind}"[:160] for kind in new_kinds][:8])


def _join_names(names: Iterable[str]) -> list[str]:
    """Return texts of comma-separated names, each with at most 300 characters."""
    kinds = [""]
    for name in dict.fromkeys(names):
        extended = f"{kinds[-1]}, {name}" if kinds[-1] else name
        kinds = [*kinds[:-1], extended] if len(extended) <= 300 else [*kinds, name[:300]]
    return [kind for kind in kinds if kind]


HANDLERS: dict[str, Handler] = {"awi/update": _update, "awi/evolve": _evolve}
