"""English words for METEOR: nltk's sentences and word tokens, from rules alone and many times faster.

`word_tokenize` cuts sentences by Punkt as trained on English, which is data; here Punkt is untrained, so that it
knows no abbreviations: `Dr.` ends a sentence. Words are cut by the same rules, but each piece between white space is
cut once. This module takes a second to import, so import it where it is needed.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktSentenceTokenizer

_PLAIN_END = re.compile(r"(?<=[A-Za-z]{2})[.?!](?=[ \t\n\r\f\v]+[A-Za-z])")
"""Where Punkt, knowing no abbreviation, always ends a sentence: a word's end, its mark, a word's beginning. It takes
other white space, such as a hard space, for part of a word at times."""
_MARK = re.compile(r"[.?!]")
_PERHAPS_END = re.compile(r"[.?!](?=\s*\S)")
_ODD_SPACE = re.compile(r"[^\S ]| {2}|^ | $")
_PIECE = re.compile(r"\S+")
_CLOSING = frozenset("])}>\"'»”’")
_SENTENCES = PunktSentenceTokenizer()
_WORDS = NLTKWordTokenizer()


def treebank_words(text: str) -> list[str]:
    """The words and punctuation marks of a text, in order."""
    words: list[str] = []
    start = 0
    for end in (*_plain_ends(text), len(text)):
        part = (text[start:end].lstrip() if start else text[:end]).rstrip()
        for sentence in _SENTENCES.tokenize(part) if _PERHAPS_END.search(part) else (part,):
            words += sentence_words(sentence)
        start = end
    return words


def _plain_ends(text: str) -> Iterator[int]:
    for found in _PLAIN_END.finditer(text):
        mark = found.start()
        # Of several marks in one piece Punkt looks at the last alone: it is to see them together.
        if not _MARK.search(text, text.rfind(" ", 0, mark) + 1, mark):
            yield mark + 1


def sentence_words(sentence: str) -> list[str]:
    """What NLTKWordTokenizer makes of a sentence. Its rules look no further than a piece and the white space at its
    ends, but for the last full stop and the closing marks after it."""
    if _ODD_SPACE.search(sentence):
        return _words_between_any_space(sentence)
    pieces = sentence.split(" ")
    end = len(pieces) - 1
    while end > 0 and _CLOSING.issuperset(pieces[end]):
        end -= 1
    if end == 0:
        return list(_last(sentence, False))
    words = list(_inner(pieces[0] + " ", False))
    for piece in pieces[1:end]:
        words += _between(piece)
    words += _last(" " + " ".join(pieces[end:]), True)
    return words


def _words_between_any_space(sentence: str) -> list[str]:
    pieces = list(_PIECE.finditer(sentence))
    end = len(pieces) - 1
    while end > 0 and _CLOSING.issuperset(pieces[end][0]):
        end -= 1
    words: list[str] = []
    for piece in pieces[:end]:
        first, last = piece.span()
        words += _inner(sentence[max(first - 1, 0) : last + 1], first > 0)
    if pieces:
        first = pieces[end].start()
        words += _last(sentence[max(first - 1, 0) :], first > 0)
    return words


@lru_cache(maxsize=200_000)
def _between(piece: str) -> tuple[str, ...]:
    return _inner(f" {piece} ", True)


@lru_cache(maxsize=50_000)
def _inner(piece: str, after_another: bool) -> tuple[str, ...]:
    return _last(piece + "x", after_another)[:-1]


@lru_cache(maxsize=50_000)
def _last(piece: str, after_another: bool) -> tuple[str, ...]:
    return tuple(_WORDS.tokenize("x" + piece)[1:] if after_another else _WORDS.tokenize(piece))
