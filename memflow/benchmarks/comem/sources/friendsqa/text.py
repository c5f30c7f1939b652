"""Conversion of published tokens to normal text, in which the position of each token is known.

Only unambiguous joins are made: `do n't`, `gon na`, punctuation, brackets and quotes. Dashes stay as published, because
`good - bye` and `no - no` have the same form.
"""

import re
from dataclasses import dataclass

_CLOSES = re.compile(r"[.,?!;:)\]}%]+")
_TAIL = re.compile(r"(n't|'(s|m|re|ll|ve|d))", re.IGNORECASE)
_OPENS = frozenset("([{")
_SPLIT = frozenset({("gon", "na"), ("wan", "na"), ("got", "ta"), ("gim", "me"), ("lem", "me")})
_ENDS = " .,?!;:()[]{}\"'-"


@dataclass(frozen=True)
class DetokenizedText:
    """A text, with the start and the end of each published token in the text."""

    text: str
    places: tuple[tuple[int, int], ...]

    def between(self, first: int, last: int) -> str:
        """Return the text of the tokens from `first` to `last`, inclusive, without surrounding punctuation."""
        return trimmed(self.text[self.places[first][0] : self.places[last][1]])


def detokenize(published: str) -> DetokenizedText:
    """Return the tokens of a published text, joined to normal text with the position of each token."""
    text, places, before, quoted, joined = "", [], "", False, True
    for token in published.split():
        mark = '"' if token in ('"', "``", "''") else token
        closing = mark == '"' and quoted
        if text and not joined and not closing and not _follows(before, mark):
            text += " "
        places.append((len(text), len(text) + len(mark)))
        text += mark
        if mark == '"':
            quoted = not quoted
        joined = mark in _OPENS or (mark == '"' and quoted)
        before = mark
    return DetokenizedText(text, tuple(places))


def trimmed(text: str) -> str:
    """Return a text without punctuation at both ends. An abbreviation such as `Jr.` keeps its period."""
    inner = text.strip(_ENDS)
    end = text.find(inner) + len(inner)
    short = re.search(r"(\b(Jr|Sr)|\.[A-Za-z])$", inner) is not None
    return inner + "." if short and text[end : end + 1] == "." else inner


def _follows(before: str, token: str) -> bool:
    if _CLOSES.fullmatch(token) or _TAIL.fullmatch(token):
        return True
    possessive = token == "'" and before.endswith("s")
    return possessive or (before.lower(), token.lower()) in _SPLIT
