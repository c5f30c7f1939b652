"""Tokens with spaces between -> text as people write it, and where each token stands in it.

Only what is safe is put together: `do n't`, `gon na`, marks, brackets and quotes. A dash stands as published, since
`good - bye` and `no - no` look alike.
"""

import re
from dataclasses import dataclass

_CLOSES = re.compile(r"[.,?!;:)\]}%]+")
_TAIL = re.compile(r"(n't|'(s|m|re|ll|ve|d))", re.IGNORECASE)
_OPENS = frozenset("([{")
_SPLIT = frozenset({("gon", "na"), ("wan", "na"), ("got", "ta"), ("gim", "me"), ("lem", "me")})
_ENDS = " .,?!;:()[]{}\"'-"


@dataclass(frozen=True)
class Text:
    """A text, and where each of its tokens begins and ends."""

    text: str
    places: tuple[tuple[int, int], ...]

    def between(self, first: int, last: int) -> str:
        """Its tokens from `first` to `last`, both included, without the marks around them."""
        return trimmed(self.text[self.places[first][0] : self.places[last][1]])


def written(published: str) -> Text:
    """A published text written out."""
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
    return Text(text, tuple(places))


def trimmed(text: str) -> str:
    """A text without marks at its ends; a short form such as `Jr.` keeps its full stop."""
    inner = text.strip(_ENDS)
    end = text.find(inner) + len(inner)
    short = re.search(r"(\b(Jr|Sr)|\.[A-Za-z])$", inner) is not None
    return inner + "." if short and text[end : end + 1] == "." else inner


def _follows(before: str, token: str) -> bool:
    """Whether a token follows the one before without a space."""
    if _CLOSES.fullmatch(token) or _TAIL.fullmatch(token):
        return True
    possessive = token == "'" and before.endswith("s")
    return possessive or (before.lower(), token.lower()) in _SPLIT
