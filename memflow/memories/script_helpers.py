"""How the scripted chat reads for a memory: sentences, and what each is about. It is no language model.

The handlers of all memories share it, so that a demo shows their mechanisms and not the wit of their scripts.
"""

import re

from memflow.words import search_words

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_LINE = re.compile(r"^(?:\[(?P<date>[^\]]+)\]\s*)?(?:(?P<speaker>[^\s:][^:\n]{0,39}): )?(?P<said>.*)$")
_MINE = re.compile(r"\b[Mm]y ([\w' -]+?)(?= (?:is|are|was)\b|[,.;:!?]|$)")


def statements(lines: str, *, of: str | None = None) -> list[str]:
    """The sentences in `speaker: text` lines that state something, without questions; of one speaker, if named."""
    found = []
    for line in lines.splitlines():
        match = _LINE.match(line)
        if match is None or (of is not None and match["speaker"] != of):
            continue
        sentences = (sentence.strip() for sentence in _SENTENCE.findall(match["said"]))
        found += [sentence for sentence in sentences if sentence and sentence[-1] not in "?？"]
    return [sentence for sentence in found if search_words(sentence)]


def subject(sentence: str) -> str:
    """What a sentence is about: `cooking budget` of `My cooking budget is tight.`, or its first three words."""
    mine = _MINE.search(sentence)
    return mine[1].lower() if mine else " ".join(search_words(sentence)[:3])


def word_overlap(one: str, other: str) -> float:
    """Share of words that two texts have in common, from 0 to 1."""
    left, right = set(search_words(one)), set(search_words(other))
    return len(left & right) / len(left | right) if left | right else 0.0
