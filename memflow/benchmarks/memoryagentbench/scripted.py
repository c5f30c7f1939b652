"""Handlers of the scripted chat for MemoryAgentBench's prompts, which answer by words instead of a language model.

An answer is what the last line with most words of the question adds to it; the last line, as newer facts come later.
"""

from memflow.benchmarks.memoryagentbench.answers import Fluency, KeyPoints, Sentences
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.metrics.stems import stem
from memflow.words import search_words

_UNKNOWN = "unknown"


def _answer(request: ChatRequest) -> str:
    asked = _stems(str(request.fields["question"]))
    shown = "\n".join(message.content for message in request.messages[1:-1])
    text = f"{shown}\n{request.fields['notes']}"
    lines = [line for line in text.splitlines() if asked & _stems(line)]
    if not lines:
        return str(request.fields["notes"]).partition("\n")[0] or _UNKNOWN
    _, best = max(enumerate(lines), key=lambda numbered: (len(asked & _stems(numbered[1])), numbered[0]))
    words = best.partition(". ")[2] or best
    rest = [word for word in words.rstrip(".").split() if stem(word.lower().strip(".,")) not in asked]
    return " ".join(rest) or best


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in search_words(text))


def _titles(request: ChatRequest) -> str:
    return f"1. {_answer(request)}"


def _key_points(request: ChatRequest) -> KeyPoints:
    points, summary = str(request.fields["key_points"]).splitlines(), _stems(request.fields["summary"])
    return KeyPoints(supported=[n for n, point in enumerate(points, 1) if _shares(point, summary)])


def _sentences(request: ChatRequest) -> Sentences:
    return Sentences(
        sentences=1, supported=_shares(request.fields["summary"], _stems(request.fields["expert"]))
    )


def _fluency(request: ChatRequest) -> Fluency:
    words = str(request.fields["summary"]).split()
    return Fluency(fluency=not any(map(str.__eq__, words, words[1:])))


def _shares(text: str, stems: frozenset[str]) -> bool:
    """Return whether half of the words of a text are among the stems."""
    own = _stems(text)
    return bool(own) and 2 * len(own & stems) >= len(own)


_PROMPTS = ("facts", "text", "event", "label", "option", "summary", "history")
HANDLERS: dict[str, Handler] = {
    **{f"memoryagentbench/answer_{name}": _answer for name in _PROMPTS},
    "memoryagentbench/answer_titles": _titles,
    "memoryagentbench/judge_fluency": _fluency,
    "memoryagentbench/judge_key_points": _key_points,
    "memoryagentbench/judge_sentences": _sentences,
}
