"""The score called rouge-l by the package `rouge` 1.0.1, on which published Chinese scores rest.

It unites the words of one longest common subsequence per pair of sentences and divides by the numbers of distinct
words; so it depends on which longest subsequence is found, and this module finds the same.
"""

from collections.abc import Sequence

Sentences = Sequence[Sequence[str]]

DEEPEST = 980
"""The number of recursive steps from which the package fails (Python's limit is 1,000 frames)."""


def union_rouge_l(said: Sentences, wanted: Sentences) -> float:
    """Return the F-measure over distinct words, in [0, 1); 0 for a text without a sentence.

    Also 0 where the package fails, as its published callers score the error.
    """
    if not said or not wanted:
        return 0.0
    common: set[str] = set()
    for gold in wanted:
        for sentence in said:
            found, steps = _walk_back(sentence, gold)
            if steps > DEEPEST:
                return 0.0
            common |= found
    precision = len(common) / len({word for sentence in said for word in sentence})
    recall = len(common) / len({word for sentence in wanted for word in sentence})
    return 2.0 * ((precision * recall) / (precision + recall + 1e-8))


def _walk_back(said: Sequence[str], wanted: Sequence[str]) -> tuple[set[str], int]:
    """Return the words of the longest common subsequence that the package finds, and its number of steps."""
    places: dict[str, int] = {}
    for place, word in enumerate(said):
        places[word] = places.get(word, 0) | 1 << place
    found: set[str] = set()
    if places.keys().isdisjoint(wanted):
        return found, len(said)
    # A row of the table of lengths is kept as bits: a 0 at a place says that the length grows there (Hyyrö 2004).
    everywhere = (1 << len(said)) - 1
    rows = [everywhere]
    for word in wanted:
        met = rows[-1] & places.get(word, 0)
        rows.append((rows[-1] + met | rows[-1] - met) & everywhere)
    above, left, steps = len(wanted), len(said), 0
    while above and left:
        steps += 1
        if wanted[above - 1] == said[left - 1]:
            found.add(said[left - 1])
            above -= 1
            left -= 1
        elif rows[above] >> (left - 1) & 1:
            left -= 1
        else:
            above -= 1
    return found, steps
