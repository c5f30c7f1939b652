"""Text helpers that the scripted handlers of all memories share, without a language model."""

import re

from memflow.words import search_words

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_LINE = re.compile(r"^(?:\[(?P<date>[^\]]+)\]\s*)?(?:(?P<speaker>[^\s:][^:\n]{0,39}): )?(?P<said>.*)$")
_MINE = re.compile(r"\b[Mm]y ([\w' -]+?)(?= (?:is|are|was)\b|[,.;:!?]|$)")


def statements(lines: str, *, of: str | None = None) -> list[str]:
    """Return the sentences of `speaker: text` lines that are no questions; with `of`, only those of this speaker."""
    found = []
    for line in lines.splitlines():
        match = _LINE.match(line)
        if match is None or (of is not None and match["speaker"] != of):
            continue
        sentences = (sentence.strip() for sentence in _SENTENCE.findall(match["said"]))
        found += [sentence for sentence in sentences if sentence and sentence[-1] not in "?？"]
    return [sentence for sentence in found if search_words(sentence)]


def subject(sentence: str) -> str:
    """Return the subject of a sentence: `cooking budget` for `My cooking budget is tight.`, else its first 3 words."""
    mine = _MINE.search(sentence)
    return mine[1].lower() if mine else " ".join(search_words(sentence)[:3])


def word_overlap(one: str, other: str) -> float:
    """Return the Jaccard similarity of the words of two texts, from 0 to 1."""
    left, right = set(search_words(one)), set(search_words(other))
    return len(left & right) / len(left | right) if left | right else 0.0
