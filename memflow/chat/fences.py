"""Fences around the untrusted fields of a prompt. Such fields have texts by other models, with possible instructions.

A fence is the lines `<<<MARK` and `MARK>>>` around a text. The mark is derived from the content hash of the texts, so
equal requests have equal marks, and no text contains its own mark. prompts.py fences the fields that a prompt declares
as `untrusted`, and adds the instruction in prompts/untrusted.md.
"""

from collections.abc import Iterable, Sequence
from itertools import count

from memflow.fingerprint import digest

MARK_LENGTH = 16
"""Hexadecimal digits of a mark."""

Texts = str | Sequence[tuple[str, str]]
"""The value of a field: a text, or pairs of a label and a text."""


def mark_of(values: Iterable[Texts]) -> str:
    """Return a mark that occurs in none of the texts. Equal texts have equal marks."""
    texts = [text for value in values for text in _texts(value)]
    candidates = (digest(texts, number)[:MARK_LENGTH] for number in count())
    return next(mark for mark in candidates if not any(mark in text for text in texts))


def layout(value: Texts, mark: str = "") -> str:
    """Return a field's texts for a prompt, each after its label if it has one, and fenced if a mark is given."""
    if isinstance(value, (list, tuple)):
        return "\n\n".join(f"{label}:\n{layout(text, mark)}" for label, text in value)
    return f"<<<{mark}\n{value}\n{mark}>>>" if mark else str(value)


def _texts(value: Texts) -> list[str]:
    return [text for _, text in value] if isinstance(value, (list, tuple)) else [str(value)]
