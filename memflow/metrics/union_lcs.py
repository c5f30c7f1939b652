"""The score that the package `rouge` 1.0.1 calls rouge-l, and that published figures for Chinese rest on.

It is not ROUGE-L. Of each sentence of the answer and each of the gold it takes one longest common subsequence,
throws the words of all of them into one set, and divides its size by the numbers of different words. Which of
several longest subsequences it takes therefore counts, and is kept here. How texts are cut belongs to text.py.
"""

from collections.abc import Sequence

Sentences = Sequence[Sequence[str]]

DEEPEST = 980
"""Steps back after which the package fails: it recurses, and Python allows 1,000 frames. Called from the top of a
script it fails at 991; a published run had some frames of its own."""


def union_rouge_l(said: Sentences, wanted: Sentences) -> float:
    """The F-measure over different words, in [0, 1); 0 where a text has no sentence.

    0 as well where the package fails, on sentences of about 1,000 words together: its published callers take
    the error for a score of 0.
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
    """The words of the longest common subsequence that is met from both ends, the answer left first, and in how
    many steps."""
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
