"""How the scripted chat reads a question's options in what it was shown. No model, and no gold.

It knows word for word alone. Of the options that stand in a line it takes the one whose line speaks most of what is
asked, and of lines that do so alike the latest, since later words correct earlier ones; options that the question
names itself it does not tell apart. Where options are lists, it takes the one that comes nearest to the items that
stand beside a word of the question. Where no option stands anywhere, it takes the one of whose words most are in one
line; where nothing speaks for any, all are left, to be drawn from. So it knows facts that are stated and lists of what
was recommended, and of a preference or a mood, which nobody states, nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memflow.metrics.stems import stem
from memflow.words import HAN, search_words

LIST_MARKS = ("; ", "；")
"""What stands between the items of an option that is a list."""
_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True)
class _Line:
    """A line that was shown: its text as it is compared, and its words."""

    plain: str
    words: frozenset[str]
    chinese: bool

    def says(self, text: str) -> bool:
        """Whether a text, already plain, stands in the line and not within a longer word or number."""
        if self.chinese:
            text = text.replace(" ", "")
        at = self.plain.find(text)
        while at >= 0:
            end = at + len(text)
            if not _joined(self.plain, at) and not _joined(self.plain, end):
                return True
            at = self.plain.find(text, at + 1)
        return False


def best_options(shown: str, question: str, options: Sequence[str]) -> list[int]:
    """The options, by index, that speak most for themselves in what was shown; all of them where none does."""
    lines = [_line(line) for line in shown.split("\n") if line.strip()]
    asks = _line(question)
    lists = _lists(options)
    if lists is not None and (sets := _told(lines, asks, frozenset().union(*lists))):
        return _best([max((-len(told ^ items), -len(told)) for told in sets) for items in lists])
    verbatim = [_nearest(lines, asks, _plain(option)) for option in options]
    if any(verbatim):
        return _best([found or (-1, -1, 0) for found in verbatim])
    return _best([_covered(lines, asks.words, _line(option).words) for option in options])


def near(shown: str, question: str) -> str:
    """The lines in which a word of the question stands."""
    words = _line(question).words
    return "\n".join(line for line in shown.split("\n") if words & _line(line).words)


def _best(scores: Sequence[tuple[float, ...]]) -> list[int]:
    best = max(scores, default=())
    return [at for at, score in enumerate(scores) if score == best]


def _nearest(lines: Sequence[_Line], asks: _Line, text: str) -> tuple[int, int, int] | None:
    """How much the line that says the text has of the question, how late it stands, and how long the text is; None
    where no line says it."""
    said = [(len(asks.words & line.words), at) for at, line in enumerate(lines) if text and line.says(text)]
    if not said:
        return None
    near, at = max(said)
    return (near, 0, 0) if asks.says(text) else (near, at, len(text))


def _covered(lines: Iterable[_Line], asked: frozenset[str], own: frozenset[str]) -> tuple[float, int]:
    """The share of an option's words in one line, and how much that line has of the question."""
    shares = (
        (len(there) / len(own), len(asked & line.words)) for line in lines if (there := own & line.words)
    )
    return max(shares, default=(0.0, 0))


def _lists(options: Sequence[str]) -> list[frozenset[str]] | None:
    """The items of each option, where they are lists: where most of them have several items."""
    for mark in LIST_MARKS:
        if 2 * sum(mark in option for option in options) >= len(options) > 0:
            return [frozenset(_plain(item) for item in option.split(mark)) for option in options]
    return None


def _told(lines: Sequence[_Line], asks: _Line, items: frozenset[str]) -> list[frozenset[str]]:
    """For each word of the question, the items that stand in a line beside it; where none stands beside any, the items
    that stand in a line at all. None of these is empty."""
    beside = {
        item: [line.words - _line(item).words for line in lines if line.says(item)] for item in sorted(items)
    }
    sets = [
        frozenset(item for item, held in beside.items() if any(word in words for words in held))
        for word in sorted(asks.words)
    ]
    found = [told for told in sets if told] or [frozenset(item for item, held in beside.items() if held)]
    return [told for told in found if told]


@lru_cache(maxsize=100_000)
def _line(text: str) -> _Line:
    words = frozenset(stem(word) for word in search_words(text))
    return _Line(_plain(text), words, _HAN.search(text) is not None)


def _plain(text: str) -> str:
    """A text as it is compared: spaces tell nothing where there is Chinese."""
    between = "" if _HAN.search(text) else " "
    return between.join(text.casefold().split()).rstrip(".。")


def _joined(text: str, at: int) -> bool:
    """Whether a word or number of Latin letters goes on from before a place to after it."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return before.isascii() and before.isalnum() and after.isascii() and after.isalnum()
