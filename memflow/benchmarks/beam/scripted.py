"""The scripted models of BEAM, without a language model: they compare words, and say nothing of any model.

An answer is the lines of the context that share most long words with the question, in order. A judge compares the words
of a criterion or an event with those of the response.
"""

import json
import re

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.words import search_words

UNKNOWN = "I do not have information about this."
_LINES, _LENGTH = 6, 300
"""Lines of an answer, and characters of a line."""
_LEAD = re.compile(r"^(?:the |LLM )?response should \w+(?: that)?:", re.IGNORECASE)
_WORD = re.compile(r"\w{4,}")
_ALL, _SOME = 0.6, 0.3
"""Shares of a criterion's words in the response for 1 and for a half point."""


def _answer(request: ChatRequest) -> str:
    shown = request.fields.get("notes") or "\n".join(message.content for message in request.messages[:-1])
    asked = set(_WORD.findall(str(request.fields["question"]).lower()))
    lines = [line.strip()[:_LENGTH] for line in str(shown).splitlines() if line.strip()]
    shares = [(len(asked & set(_WORD.findall(line.lower()))), at) for at, line in enumerate(lines)]
    best = sorted(at for common, at in sorted(shares, reverse=True)[:_LINES] if common > 1)
    return "\n".join(lines[at] for at in best) or UNKNOWN


def _share(wanted: str, text: str) -> float:
    words = set(search_words(_LEAD.sub("", wanted)))
    return len(words & set(search_words(text))) / len(words) if words else 0.0


def _judge(request: ChatRequest) -> str:
    share = _share(str(request.fields["rubric"]), str(request.fields["response"]))
    score = 1.0 if share >= _ALL else 0.5 if share >= _SOME else 0.0
    return json.dumps({"score": score, "reason": f"{share:.0%} of the criterion's words are in the response"})


def _same_event(request: ChatRequest) -> str:
    return "YES" if _share(str(request.fields["event"]), str(request.fields["line"])) >= _ALL else "NO"


HANDLERS: dict[str, Handler] = {
    "beam/answer": _answer,
    "beam/answer_turns": _answer,
    "beam/judge_published": _judge,
    "beam/judge_corrected": _judge,
    "beam/judge_same_event": _same_event,
}
"""The handlers by prompt name."""
