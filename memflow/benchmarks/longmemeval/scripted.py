"""The scripted models of the benchmark and its memories, without a language model.

The reader replies with the sentence of the prompt that shares most words with the question. The judge compares the
words of gold and response. So accuracy rises with useful recall, and says nothing about any model. The facts of the
memories are the statements of the messages.
"""

import re

from memflow.benchmarks.longmemeval.answers import Facts
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.script_helpers import statements
from memflow.words import search_words

UNKNOWN = "This was not mentioned, so I do not know."
_ENOUGH = 0.34
"""Share of the question's words that a sentence must have."""
_LENGTH = 400
"""Characters of a reply, and of a fact."""
_FACTS = 40
"""Facts of a unit."""
_SENTENCE = re.compile(r"(?:(?!\\n|[.!?\n]).)+")


def _read(request: ChatRequest) -> str:
    question = set(search_words(request.fields["question"]))
    lines = [line for text in _shown(request) for line in _SENTENCE.findall(text) if line.strip()]
    shares = [
        (len(question & set(search_words(line))) / max(1, len(question)), at) for at, line in enumerate(lines)
    ]
    best, at = max(shares, default=(0.0, 0))
    return lines[at].strip()[:_LENGTH] if best >= _ENOUGH else UNKNOWN


def _shown(request: ChatRequest) -> list[str]:
    """Return the recalled texts: the notes, or else the chat turns before the question."""
    if "notes" in request.fields:
        return [request.fields["notes"]]
    return [message.content for message in request.messages[:-1]]


def _judge(gold_field: str) -> Handler:
    def judge(request: ChatRequest) -> str:
        gold = set(search_words(request.fields[gold_field]))
        response = set(search_words(request.fields["response"]))
        needed = 1.0 if len(gold) < 4 else 0.5
        return "Yes." if gold and len(gold & response) >= needed * len(gold) else "No."

    return judge


def _judge_abstention(request: ChatRequest) -> str:
    return "Yes." if "not mentioned" in request.fields["response"] else "No."


def _facts(request: ChatRequest) -> Facts:
    return Facts(facts=[sentence[:_LENGTH] for sentence in statements(request.fields["messages"])][:_FACTS])


HANDLERS: dict[str, Handler] = {
    **{f"longmemeval/{name}": _read for name in ("direct", "direct_turns", "notes", "notes_turns")},
    **{f"longmemeval/{name}": _judge("gold") for name in ("judge_answer", "judge_temporal", "judge_update")},
    "longmemeval/judge_preference": _judge("rubric"),
    "longmemeval/judge_abstention": _judge_abstention,
    "longmemeval/facts": _facts,
}
"""The handlers by prompt name."""
