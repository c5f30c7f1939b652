"""Which messages a recorded context contains, found by their words, and how often this rule is wrong.

Published contexts are texts that a memory wrote, without the ids of the messages that they came from. A message counts
as contained if enough of its words stand together in one passage of the context. How much is enough is set by messages
that need not be there (MatchRule).
"""

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from memflow.metrics.stems import stem
from memflow.scoring.health.texts import KEY, whole_key
from memflow.words import search_words

PASSAGE = 60
"""Words of a passage. A longer item of a context is read in passages that overlap by half."""
FALSE_RATE = 0.05
"""Share of messages that need not be there which a rule may find in a context."""
FEWEST_WORDS = 3
"""Different words below which a message cannot be recognized."""

VERBATIM = 2.0
"""The share of a message that stands in the context word for word, above that of any other."""
BEGINNING = 60
"""Letters and digits at the beginning of a message that stand in the context where it stands there verbatim."""


@dataclass(frozen=True)
class MatchRule:
    """The share of a message's words that must be exceeded, by a lenient and by a strict rule.

    At most FALSE_RATE of `n` evidence messages of other conversations exceed `lenient`; these cannot be there. At most
    FALSE_RATE of the evidence of other questions about the same conversation, from other sessions, exceed `strict`,
    without those that stand there verbatim; these are of the same people and may be there. The truth lies between what
    the strict and what the lenient rule finds. `near_rate` is how many of the latter messages the lenient rule finds.
    """

    lenient: float
    strict: float
    near_rate: float
    n: int


class Message(NamedTuple):
    """The stems of a message and its first letters and digits."""

    words: frozenset[str]
    beginning: str


class Context:
    """A recorded context: the stems of its passages, and all its letters and digits, given its items."""

    def __init__(self, items: Sequence[str]) -> None:
        self.text = whole_key("\n".join(items))
        self.passages: list[frozenset[str]] = []
        for item in items:
            words = [stem(word) for word in search_words(item)]
            starts = range(0, max(1, len(words) - PASSAGE // 2), PASSAGE // 2)
            self.passages += [frozenset(words[start : start + PASSAGE]) for start in starts]


class ConversationMessages:
    """The messages of a conversation, and the weight of each stem in them: the rarer, the heavier.

    `names` are words that do not count, such as the names of the speakers, which stand in most messages.
    """

    def __init__(self, texts: Mapping[str, str], names: Iterable[str] = ()) -> None:
        omitted = _stems(" ".join(names))
        self.messages = {
            name: Message(_stems(text) - omitted, whole_key(text)[:BEGINNING]) for name, text in texts.items()
        }
        counts = Counter(word for message in self.messages.values() for word in message.words)
        self._weights = {word: math.log(1 + len(texts) / (1 + count)) for word, count in counts.items()}
        self._unknown = math.log(1 + len(texts))

    def shares(self, messages: Iterable[Message], context: Context) -> list[float]:
        """Return the largest weighted share of each message's words in one passage, but for those of too few words."""
        return [self._share(message, context) for message in messages if len(message.words) >= FEWEST_WORDS]

    def _share(self, message: Message, context: Context) -> float:
        if len(message.beginning) >= KEY and message.beginning in context.text:
            return VERBATIM
        weights = {word: self._weights.get(word, self._unknown) for word in message.words}
        sums = (sum(weights[word] for word in message.words & passage) for passage in context.passages)
        return max(sums, default=0.0) / sum(weights.values())


def calibrated_rule(false: Sequence[float], near: Sequence[float]) -> MatchRule:
    """Return the rules, given the shares of evidence of other conversations, and of other questions."""
    lenient = float(np.quantile(false, 1 - FALSE_RATE, method="higher"))
    derived = [share for share in near if share < VERBATIM]
    strict = float(np.quantile(derived, 1 - FALSE_RATE, method="higher")) if derived else lenient
    near_rate = sum(share > lenient for share in near) / len(near) if near else 0.0
    return MatchRule(lenient, max(lenient, strict), near_rate, len(false))


def drawn(names: Sequence[str], key: str) -> str | None:
    """Return one of the names, drawn with a key as the seed; None without names."""
    return random.Random(key).choice(names) if names else None


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, search_words(text)))
