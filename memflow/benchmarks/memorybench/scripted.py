"""Scripted assistant for MemoryBench's prompts, without a language model.

The answer is the sentence of the prompt that shares most words with the question, without these words. Otherwise the
assistant replies that it does not know, or guesses between two options. So scores rise with useful recall.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memflow.benchmarks.memorybench.answers import Ideas, Limitations
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.fingerprint import seeded
from memflow.words import search_words

UNKNOWN = {"en": "I do not know that.", "zh": "我不知道。"}
PIECES = 3
"""Sentences of a longer answer."""
PIECE = 400
"""Maximum characters of each."""
_DATED = re.compile(r"^\[(?P<date>[^\]]+)\]\s*(?P<rest>.*)$")
_NAMED = re.compile(r"^(?P<name>[A-Z][\w'-]*|user|assistant): (?P<rest>.*)$")
_SENTENCE = re.compile(r"[^.!?。！？]+[.!?。！？]*")
_DAY = re.compile(r"\b\d{1,2} [A-Z][a-z]+(?:,? \d{4})?")
_NEGATIVE = ("not mentioned", "no information available")


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    speaker: str
    date: str

    def words(self) -> frozenset[str]:
        return _roots(self.text)


def handlers() -> dict[str, Handler]:
    """Return the scripted chat's handlers by prompt name."""
    return {
        "memorybench/locomo_short": _short,
        "memorybench/locomo_date": _date,
        "memorybench/locomo_choice": _choice,
        "memorybench/dialsim": _short,
        "memorybench/nfcats": lambda request: _whole(request, "en"),
        "memorybench/writingprompts": lambda request: _whole(request, "en"),
        "memorybench/answer_en": lambda request: _whole(request, "en"),
        "memorybench/answer_zh": lambda request: _whole(request, "zh"),
        "memorybench/judge": _judgment,
        "memorybench/ideabench": lambda request: Ideas(hypotheses=_pieces(request)),
        "memorybench/limitgen": lambda request: Limitations(limitations=_pieces(request)),
        "memorybench/scitechnews": lambda request: "\n".join(_pieces(request)),
        "memorybench/retry_en": lambda request: _retry(request, "en"),
        "memorybench/retry_zh": lambda request: _retry(request, "zh"),
    }


def _short(request: ChatRequest) -> str:
    question, sentences = request.fields["question"], _visible(request)
    found = _ranked(question, sentences) or sentences
    return _words_not_in_question(question, found[0]) if found else UNKNOWN["en"]


def _date(request: ChatRequest) -> str:
    for sentence in _ranked(request.fields["question"], _visible(request))[:1]:
        said = _DAY.search(sentence.text)
        told = _DAY.search(sentence.date)
        year = sentence.date[-4:]
        if said:
            return said[0] if re.search(r"\d{4}$", said[0]) else f"{said[0]} {year}"
        if told:
            return told[0].replace(",", "")
    return UNKNOWN["en"]


def _choice(request: ChatRequest) -> str:
    question, options = request.fields["question"], {name: request.fields[name] for name in "ab"}
    negative = next((name for name in "ab" if _NEGATIVE[0] in options[name].lower()), "a")
    other = "b" if negative == "a" else "a"
    sentences = _visible(request)
    if not sentences:
        return "ab"[seeded("choice", question) % 2]
    claimed = _roots(options[other])
    for sentence in _ranked(question, sentences)[:3]:
        named = sentence.speaker and sentence.speaker.lower() in question.lower()
        if named and len(claimed & sentence.words()) * 2 > len(claimed):
            return other
    return negative


def _whole(request: ChatRequest, language: str) -> str:
    sentences = _visible(request)
    found = _ranked(request.fields["question"], sentences) or sentences
    return found[0].text if found else UNKNOWN[language]


def _pieces(request: ChatRequest) -> list[str]:
    """Return three sentences: the best-ranked sentences, then sentences of the question."""
    question = request.fields["question"]
    found = [*_ranked(question, _visible(request)), *_sentences(question)]
    texts = list(dict.fromkeys(sentence.text[:PIECE] for sentence in found))
    return (texts + [UNKNOWN["en"]] * PIECES)[:PIECES]


def _judgment(request: ChatRequest) -> str:
    """Return a judgment with the first facts of the case and similar remembered facts."""
    question = request.fields["question"]
    facts = "".join(sentence.text for sentence in list(_sentences(question))[:PIECES])
    known = "".join(sentence.text for sentence in _ranked(question, _visible(request))[:PIECES])
    return (
        f"刑事判决书\n经审理查明：{facts}\n本院认为，{known}被告人的行为已构成犯罪。判决如下：\n被告人有罪。"
    )


def _retry(request: ChatRequest, language: str) -> str:
    """Return the best sentence of the prompt or the critique that is not an earlier answer."""
    history = [message for message in request.messages if message.role != "system"]
    question = history[0].content
    before = {message.content for message in history if message.role == "assistant"}
    sentences = [*_sentences(request.fields["notes"]), *_sentences(request.fields["critique"])]
    for sentence in _ranked(question, sentences):
        for answer in (sentence.text, _words_not_in_question(question, sentence)):
            if answer not in before:
                return answer
    return UNKNOWN[language]


def _visible(request: ChatRequest) -> list[_Sentence]:
    """Return the sentences before the question, without the assistant's sentences."""
    found = list(_sentences(request.fields["notes"]))
    date = ""
    for message in request.messages[:-1]:
        if message.role != "system":
            lines = message.content.splitlines()
            date = next((match["date"] for line in lines if (match := _DATED.match(line))), date)
            speaker = "assistant" if message.role == "assistant" else "user"
            found += _sentences(message.content, speaker, date)
    return [sentence for sentence in found if sentence.speaker != "assistant"]


def _sentences(text: str, speaker: str = "", date: str = "") -> Iterator[_Sentence]:
    for line in text.splitlines():
        if dated := _DATED.match(line):
            date, line = dated["date"], dated["rest"]  # noqa: PLW2901
        said_by = speaker
        if named := _NAMED.match(line):
            said_by, line = named["name"], named["rest"]  # noqa: PLW2901
        for piece in _SENTENCE.findall(line):
            sentence = piece.strip()
            if sentence and sentence[-1] not in "?？":
                yield _Sentence(sentence, said_by, date)


def _ranked(question: str, sentences: Sequence[_Sentence]) -> list[_Sentence]:
    """Return the sentences that share words with the question, best first. The speaker's name counts as a word."""
    asked = _roots(question)
    scored = []
    for place, sentence in enumerate(sentences):
        shared = len(asked & sentence.words())
        if shared:
            named = _root(sentence.speaker.lower()) in asked
            scored.append((-(shared + named), -shared / len(sentence.words()), place, sentence))
    return [sentence for *_, sentence in sorted(scored, key=lambda one: one[:3])]


def _words_not_in_question(question: str, sentence: _Sentence) -> str:
    """Return the sentence without stop words and words of the question, or the whole sentence if no word remains."""
    asked = _roots(question)
    kept = [word for word in search_words(sentence.text) if _root(word) not in asked]
    return " ".join(kept) or sentence.text


@lru_cache(maxsize=16384)
def _roots(text: str) -> frozenset[str]:
    """Return the roots of the words of a text, which is read again for every question about it."""
    return frozenset(_root(word) for word in search_words(text))


def _root(word: str) -> str:
    """Return a word without common English suffixes."""
    for ending in ("ing", "ed", "es", "s"):
        if word.isascii() and word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
