"""Option selection of the scripted chat by word matching with the shown text, without a model or gold.

An option that occurs verbatim wins by the question words in its line, then by recency. A list option wins by its items
near a question word. Otherwise the option with most words in one line wins. Without a match, all options are returned.
"""

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memflow.benchmarks.multiple_choice import LETTERS, Choice, unlettered
from memflow.chat.requests import ChatRequest
from memflow.fingerprint import seeded
from memflow.metrics.stems import stem
from memflow.words import HAN, search_words

LIST_MARKS = ("; ", "；")
"""Separators of list options."""
_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True)
class _ShownLine:
    """A line of the shown text, with its normalized text and its word stems."""

    plain: str
    words: frozenset[str]
    chinese: bool

    def contains(self, text: str) -> bool:
        """Return whether the line contains the normalized text, not as a part of a longer word or number."""
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
    """Return the indexes of the options with most support in the shown text, or all indexes if none has support."""
    lines = [_line(line) for line in shown.split("\n") if line.strip()]
    asks = _line(question)
    lists = _lists(options)
    if lists is not None and (sets := _item_sets(lines, asks, frozenset().union(*lists))):
        return _best([max((-len(told ^ items), -len(told)) for told in sets) for items in lists])
    verbatim = [_nearest(lines, asks, _plain(option)) for option in options]
    if any(verbatim):
        return _best([found or (-1, -1, 0) for found in verbatim])
    return _best([_covered(lines, asks.words, _line(option).words) for option in options])


def seeded_random(request: ChatRequest) -> random.Random:
    """Return a random generator that depends on the request and the model's seed."""
    said = [message.content for message in request.messages]
    return random.Random(seeded(request.prompt, said, request.sampling.seed))


def choose(
    request: ChatRequest, question: str = "", is_unknown: Callable[[str], bool] = lambda option: False
) -> Choice:
    """Return the option with most support in the messages before the question, and in the gold context.

    Of several, it is the first that `is_unknown`, or else a random one. `question` replaces that of the request.
    """
    options = unlettered(request.fields["options"])
    context = request.fields.get("told", request.fields.get("known", ""))
    shown = "\n".join([*(message.content for message in request.messages[:-1]), context])
    best = best_options(shown, question or request.fields["question"], options)
    unknown = next((number for number, option in enumerate(options) if is_unknown(option)), None)
    if len(best) > 1 and unknown in best:
        return Choice(choice=LETTERS[unknown])
    return Choice(choice=LETTERS[seeded_random(request).choice(best)])


def relevant_lines(shown: str, question: str) -> str:
    """Return the lines that contain at least one word of the question."""
    words = _line(question).words
    return "\n".join(line for line in shown.split("\n") if words & _line(line).words)


def _best(scores: Sequence[tuple[float, ...]]) -> list[int]:
    best = max(scores, default=())
    return [at for at, score in enumerate(scores) if score == best]


def _nearest(lines: Sequence[_ShownLine], asks: _ShownLine, text: str) -> tuple[int, int, int] | None:
    """Return a score of `text`: higher if a line with the text has more question words, is later, and `text` is longer.

    Return None if no line contains the text.
    """
    said = [
        (len(asks.words & line.words), at) for at, line in enumerate(lines) if text and line.contains(text)
    ]
    if not said:
        return None
    near, at = max(said)
    return (near, 0, 0) if asks.contains(text) else (near, at, len(text))


def _covered(lines: Iterable[_ShownLine], asked: frozenset[str], own: frozenset[str]) -> tuple[float, int]:
    """Return the largest share of an option's words in one line, and the number of question words in that line."""
    shares = (
        (len(there) / len(own), len(asked & line.words)) for line in lines if (there := own & line.words)
    )
    return max(shares, default=(0.0, 0))


def _lists(options: Sequence[str]) -> list[frozenset[str]] | None:
    """Return the items of each option if most options are lists, otherwise nothing."""
    for mark in LIST_MARKS:
        if 2 * sum(mark in option for option in options) >= len(options) > 0:
            return [frozenset(_plain(item) for item in option.split(mark)) for option in options]
    return None


def _item_sets(lines: Sequence[_ShownLine], asks: _ShownLine, items: frozenset[str]) -> list[frozenset[str]]:
    """Return the items found near each question word, or all items in the text if no item is near a question word."""
    beside = {
        item: [line.words - _line(item).words for line in lines if line.contains(item)]
        for item in sorted(items)
    }
    sets = [
        frozenset(item for item, lines_of in beside.items() if any(word in words for words in lines_of))
        for word in sorted(asks.words)
    ]
    found = [told for told in sets if told] or [
        frozenset(item for item, lines_of in beside.items() if lines_of)
    ]
    return [told for told in found if told]


@lru_cache(maxsize=8192)
def _line(text: str) -> _ShownLine:
    words = frozenset(stem(word) for word in search_words(text))
    return _ShownLine(_plain(text), words, _HAN.search(text) is not None)


def _plain(text: str) -> str:
    """Normalize a text for comparison; spaces in Chinese text are removed."""
    between = "" if _HAN.search(text) else " "
    return between.join(text.casefold().split()).rstrip(".。")


def _joined(text: str, at: int) -> bool:
    """Return whether a Latin word or number extends across the position."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return before.isascii() and before.isalnum() and after.isascii() and after.isalnum()
