"""Handlers of the scripted chat for HaluMem's prompts, which compare words instead of asking a language model."""

import json
from functools import lru_cache
from typing import Any

from memflow.benchmarks.halumem.attribution import stems
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler

_REASON = "By the words that the texts share."
_FULL, _PART = 0.8, 0.4
_NOT_KNOWN = "It is not known."


@lru_cache(256)
def _lines(text: str) -> tuple[frozenset[str], ...]:
    return tuple(stems(line) for line in text.splitlines())


def _share(fact: str, text: str) -> float:
    """Return the share of a fact's words that one line of a text has."""
    words = stems(fact)
    return max((len(words & line) / len(words) for line in _lines(text) if words), default=0.0)


def _score(share: float) -> int:
    return 2 if share >= _FULL else 1 if share >= _PART else 0


def _json(**values: Any) -> str:
    return json.dumps({"reason": _REASON, **values})


def _answer(request: ChatRequest) -> str:
    question = stems(str(request.fields["question"]))
    shown = "\n".join(message.content for message in request.messages[1:-1])
    lines = f"{shown}\n{request.fields['notes']}".splitlines()
    scored = [
        (len(question & stems(line)), number, line) for number, line in enumerate(lines) if line.strip()
    ]
    best = max(scored, default=(0, 0, ""))
    return best[2] if best[0] else _NOT_KNOWN


def _integrity(request: ChatRequest) -> str:
    return _json(score=_score(_share(str(request.fields["point"]), str(request.fields["texts"]))))


def _accuracy(request: ChatRequest) -> str:
    text, points = str(request.fields["text"]), str(request.fields["points"])
    covered = max((_share(point, text) for point in points.splitlines()), default=0.0)
    score = _score(max(covered, _share(text, points), _share(text, str(request.fields["dialogue"]))))
    return _json(score=score, included=_share(text, points) >= _PART)


def _update(request: ChatRequest) -> str:
    share = _share(str(request.fields["point"]), str(request.fields["texts"]))
    return _json(result=("Omission", "Hallucination", "Correct")[_score(share)])


def _judged(request: ChatRequest) -> str:
    gold, answer = str(request.fields["gold"]), str(request.fields["answer"])
    unknown = {"unknown", "known"}
    if stems(answer) & stems(" ".join(unknown)):
        return _json(result="Correct" if stems(gold) & stems(" ".join(unknown)) else "Omission")
    share = _share(gold, " ".join(answer.split()))
    return _json(result=("Hallucination", "Omission", "Correct")[_score(share)])


HANDLERS: dict[str, Handler] = {
    "halumem/answer": _answer,
    "halumem/judge_integrity": _integrity,
    "halumem/judge_accuracy": _accuracy,
    "halumem/judge_update": _update,
    "halumem/judge_answer": _judged,
}
