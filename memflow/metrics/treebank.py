"""English tokenization for METEOR: the tokens of NLTK's sentence and word tokenizers, computed many times faster.

The sentence tokenizer Punkt is untrained, so `Dr.` ends a sentence. The import of this module takes a second.
"""

import re
from functools import lru_cache

from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktSentenceTokenizer

_PLAIN_END = re.compile(r"(?<=[A-Za-z]{2})[.?!](?=[ \t\n\r\f\v]+[A-Za-z])")
"""Ends of sentences that need no Punkt: a word, its mark, ASCII white space, a word."""
_MARK = re.compile(r"[.?!]")
_PERHAPS_END = re.compile(r"[.?!](?=\s*\S)")
_PIECE = re.compile(r"\S+")
_CLOSING = frozenset("])}>\"'»”’")
_SENTENCES = PunktSentenceTokenizer()
_WORDS = NLTKWordTokenizer()


def treebank_words(text: str) -> list[str]:
    """Return the words and punctuation marks of a text in order."""
    words: list[str] = []
    start = 0
    for end in (*(found.end() for found in _PLAIN_END.finditer(text)), len(text)):
        part = (text[start:end].lstrip() if start else text[:end]).rstrip()
        if not _PERHAPS_END.search(part):
            words += sentence_words(part)
        elif end < len(text) and _MARK.search(part, part.rfind(" ") + 1, len(part) - 1):
            continue  # of several marks in one piece Punkt looks at the last alone: it is to see them together
        else:
            for sentence in _SENTENCES.tokenize(part):
                words += sentence_words(sentence)
        start = end
    return words


def sentence_words(sentence: str) -> list[str]:
    """Return the tokens of NLTKWordTokenizer for a sentence.

    The rules are applied to pieces between white space, except those for the last period and closing marks.
    """
    pieces = sentence.split(" ")
    if pieces != sentence.split():
        return _words_between_any_space(sentence)
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
