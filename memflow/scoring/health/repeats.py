"""Near-duplicates: messages whose words are almost those of an earlier message of the episode."""

from collections import defaultdict

from memflow.words import search_words

SIMILAR = 0.8
"""Share of common words (Jaccard's coefficient) from which on a message nearly repeats another."""
CANDIDATES, RAREST = 8, 3
"""Earlier messages to compare with, and rare words by which they are searched: near-duplicates share most words."""


class RepeatedTexts:
    """The texts of an episode so far."""

    def __init__(self) -> None:
        self._texts: list[frozenset[str]] = []
        self._by_word: dict[str, list[int]] = defaultdict(list)

    def repeats(self, text: str) -> bool:
        """Return whether a text nearly repeats an earlier one, and add it to the texts."""
        words = frozenset(search_words(text))
        words_by_rarity = sorted((len(self._by_word[word]), word) for word in words if word in self._by_word)
        candidates = {
            number for _, word in words_by_rarity[:RAREST] for number in self._by_word[word][-CANDIDATES:]
        }
        is_repeated = any(
            len(words & self._texts[number]) >= SIMILAR * len(words | self._texts[number])
            for number in candidates
        )
        for word in words:
            self._by_word[word].append(len(self._texts))
        self._texts.append(words)
        return is_repeated
