"""Handlers of the scripted chat for the prompts of own dialogues, which answer by rules instead of a language model.

The handlers read only the prompt. An open answer is what the sentence that shares most words with the question adds to
the question. If no sentence shares more than half of the question's words, the answer is that there is none.
"""

import re
from collections.abc import Iterator
from typing import Literal

from memflow.benchmarks.dialogues.answers import Judged
from memflow.benchmarks.dialogues.question import PACKAGE
from memflow.benchmarks.dialogues.questions import NO_ANSWER, abstains, declines
from memflow.benchmarks.multiple_choice import Choice
from memflow.benchmarks.scripted_reader import choose
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import scripted_handlers
from memflow.metrics.stems import stem
from memflow.metrics.text import word_f1
from memflow.words import HAN, search_words

_DATE = re.compile(r"\[\d{4}-[^\]\n]*\]\s*")
_SPEAKER = re.compile(r"^(?:\[[^\]\n]*\]\s*)?([^\s:：][^:：\n]{0,40})[:：]\s*")
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_CHINESE = re.compile(f"[{HAN}]")


def _choice(request: ChatRequest) -> Choice:
    return choose(request, _DATE.sub("", request.fields["question"]), declines)


def _open(request: ChatRequest) -> str:
    known = request.fields.get("known")
    if known is not None:
        return str(known)
    question = _DATE.sub("", request.fields["question"])
    asked = _stems(question)
    best: tuple[tuple[int, int], str] | None = None
    for place, (speaker, sentence) in enumerate(_sentences("\n".join(_shown(request)))):
        # The name of the speaker is in most questions about what a person says.
        wanted = asked - _stems(speaker)
        shared = len(wanted & _stems(sentence))
        if 2 * shared > len(wanted) and (best is None or (shared, place) > best[0]):
            best = (shared, place), sentence
    if best is None or not asked:
        return NO_ANSWER["zh" if _CHINESE.search(question) else "en"]
    kept = [word for word in search_words(best[1]) if stem(word) not in asked]
    return ("" if _CHINESE.search(best[1]) else " ").join(kept) or best[1]


def _judge(request: ChatRequest) -> Judged:
    answer = str(request.fields["answer"])
    gold = str(request.fields.get("gold") or request.fields["rubric"])
    language: Literal["en", "zh"] = "zh" if _CHINESE.search(gold) else "en"
    if declines(gold) or abstains(answer):
        return Judged(correct=declines(gold) and abstains(answer))
    words = _stems(answer)
    return Judged(
        correct=any(
            word_f1(answer, line, language) >= 0.5 or (_stems(line) and _stems(line) <= words)
            for line in gold.splitlines()
        )
    )


def _shown(request: ChatRequest) -> list[str]:
    """Return the texts before the question."""
    return [message.content for message in request.messages[:-1]]


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Yield the speaker and the text of each statement, without date."""
    for line in text.splitlines():
        said = _DATE.sub("", line)
        named = _SPEAKER.match(said)
        for found in _SENTENCE.findall(said[named.end() :] if named else said):
            sentence = found.strip()
            if sentence and sentence[-1] not in "?？":
                yield named[1] if named else "", sentence


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in search_words(text))


HANDLERS = scripted_handlers(
    PACKAGE,
    {
        **dict.fromkeys(("choice", "choice_with_notes", "choice_known"), _choice),
        **dict.fromkeys(("open", "open_with_notes", "open_known"), _open),
        **dict.fromkeys(("judge", "judge_rubric"), _judge),
    },
)
