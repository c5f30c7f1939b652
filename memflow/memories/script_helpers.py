"""Text helpers that the scripted handlers of all memories share, without a language model."""

import re

from memflow.words import search_words

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_LINE = re.compile(r"^(?:\[(?P<date>[^\]]+)\]\s*)?(?:(?P<speaker>[^\s:][^:\n]{0,39}): )?(?P<said>.*)$")
_MINE = re.compile(r"\b[Mm]y ([\w' -]+?)(?= (?:is|are|was)\b|[,.;:!?]|$)")


def statements(lines: str, *, speaker: str | None = None) -> list[str]:
    """Return the sentences of `speaker: text` lines that are no questions, of one `speaker` or of all."""
    sentences = []
    for line in lines.splitlines():
        match = _LINE.match(line)
        if match is None or (speaker is not None and match["speaker"] != speaker):
            continue
        candidates = (sentence.strip() for sentence in _SENTENCE.findall(match["said"]))
        sentences += [sentence for sentence in candidates if sentence and sentence[-1] not in "?？"]
    return [sentence for sentence in sentences if search_words(sentence)]


def subject(sentence: str) -> str:
    """Return the subject in lower case: `cooking budget` for `My cooking budget is tight.`, else the first 3 words."""
    match = _MINE.search(sentence)
    return match[1].lower() if match else " ".join(search_words(sentence)[:3])


def word_overlap(text: str, other_text: str) -> float:
    """Return the Jaccard similarity of the words of two texts, from 0 to 1."""
    words, other_words = set(search_words(text)), set(search_words(other_text))
    return len(words & other_words) / len(words | other_words) if words | other_words else 0.0
