"""The scripted chat's handlers: a reader that knows the rules reads the recalled texts as the examiner reads messages.

It says that it cannot say unless its prompt states the answer. So its errors are those of what a memory recalls, and
say nothing of any model.
"""

import re
from typing import Literal

from memflow.benchmarks.multiple_choice import LETTERS, Choice, unlettered
from memflow.benchmarks.retraction.examination import Line, UnreadError, read_day, read_lines
from memflow.benchmarks.retraction.load import Words, shipped_words
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.fingerprint import seeded
from memflow.words import HAN

_ROLE = re.compile(r"(?:^|[\s(\[])(user|assistant)\s*[:：]", re.IGNORECASE)
_HAN = re.compile(f"[{HAN}]")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


def words_of(text: str) -> Words:
    """Return the words of the language of a question."""
    return shipped_words()["zh" if _HAN.search(text) else "en"]


def _lines(request: ChatRequest) -> list[Line]:
    lines = [
        Line(
            "assistant" if message.role == "assistant" else "user",
            message.content,
            read_day(message.content[:20]),
        )
        for message in request.messages[:-1]
        if message.role != "system"
    ]
    role: Literal["user", "assistant"] = "user"
    for text in str(request.fields.get("notes", "")).split("\n"):
        said = _ROLE.search(text[:60])
        # A line without a speaker belongs to the message before it, or is a text of the memory's own.
        role = "user" if said is None or said[1].lower() == "user" else "assistant"
        lines.append(Line(role, text[said.end() :] if said else text, read_day(text[:60])))
    return lines


def _answer(request: ChatRequest, options: tuple[str, ...]) -> str:
    words = words_of(str(request.fields["question"]))
    try:
        return read_lines(words, _lines(request)).answer(str(request.fields["question"]), options)
    except UnreadError:
        return words.cannot_say


def _choice(request: ChatRequest) -> Choice:
    options = unlettered(str(request.fields["options"]))
    answer = str(request.fields["told"]) if "told" in request.fields else _answer(request, options)
    return Choice(choice=LETTERS[options.index(answer) if answer in options else 0])


def _open(request: ChatRequest) -> str:
    return str(request.fields["told"]) if "told" in request.fields else _answer(request, ())


def _reply(request: ChatRequest) -> str:
    """Repeat the user's last sentence in half of the replies, as assistants do."""
    message = str(request.fields["message"])
    words = words_of(message)
    if seeded(message) % 2:
        last = [sentence for sentence in _SENTENCES.split(message) if sentence][-1]
        return words.echoes[0].replace("{statement}", f"“{last}”")
    return words.acknowledgements[seeded(message) // 2 % len(words.acknowledgements)]


_BY_STEM: dict[str, Handler] = {
    **{f"choice{kind}": _choice for kind in ("", "_with_notes", "_told")},
    **{f"open{kind}": _open for kind in ("", "_with_notes", "_told")},
    "reword": lambda request: str(request.fields["message"]),
    "reply": _reply,
    "reply_with_notes": _reply,
}
HANDLERS = {
    f"retraction/{stem}{suffix}": handler for stem, handler in _BY_STEM.items() for suffix in ("", "_zh")
}
"""The handlers by prompt name."""
