"""Scripted simulated user, without a language model. The user compares the last answer with the gold."""

import re

from memflow.benchmarks.memorybench.users.answers import Critique, Satisfaction
from memflow.benchmarks.memorybench.users.known_gold import PACKAGE
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import scripted_handlers
from memflow.words import search_words

CONTENT = 0.6
"""Share of the gold's words in the answer that satisfies the user."""
WORDS = 400
"""Maximum characters of a critique."""
ENOUGH = 10
"""Distinct words that satisfy the user without gold."""
_ANSWER = re.compile(r"^(?:Assistant: |助手：)", re.MULTILINE)


def _react(request: ChatRequest) -> Critique:
    share = _share(request)
    reasoning = f"{share:.2f} of what is right"
    if share >= CONTENT:
        return Critique(reasoning=reasoning, behaviour="end", response=None)
    told = request.fields["evaluation"].splitlines()[-1]
    return Critique(reasoning=reasoning, behaviour="continue", response=told[:WORDS])


def _score(request: ChatRequest) -> Satisfaction:
    return Satisfaction(score=max(1, min(10, round(10 * _share(request)))))


def _share(request: ChatRequest) -> float:
    """Return the share of the gold's words in the last answer; without gold, the answer's length relative to ENOUGH."""
    answer = set(search_words(_ANSWER.split(request.fields["conversation"])[-1]))
    _, *known = request.fields["evaluation"].splitlines()
    if not known:
        return min(1.0, len(answer) / ENOUGH)
    right = set(search_words(known[0]))
    return len(right & answer) / max(1, len(right))


HANDLERS = scripted_handlers(PACKAGE, {"feedback": _react, "satisfaction": _score})
