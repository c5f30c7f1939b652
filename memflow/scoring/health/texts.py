"""Properties of texts, and what a stored text lacks of the message that it came from."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memflow.words import HAN

_TOKEN = re.compile(rf"[{HAN}]|[^\W{HAN}]+")
_DIGIT = re.compile(r"\d")
_NO_WORD = re.compile(r"[\W_]+")
_PREFIX = re.compile(r"^\[[^\]]{1,60}\]\s*|^[^:\n]{1,40}:\s+")
_MARKS = frozenset(".,!?;'\"()。，！？；")

KEY = 24
"""Letters and digits at the start of a text by which an entry without sources is matched with a message."""
SHORTEST_PART = 8
"""Characters from which on the beginning of a text is no coincidence."""
REST = 0.8
"""A text lacks one kind of words if it has at least this share of the others; otherwise it is another text."""


@dataclass(frozen=True, slots=True)
class TextProperties:
    """The length of a text, and whether it has digits or another script. A Chinese character counts as a word."""

    words: int
    characters: int
    digits: bool
    other_script: bool
    """It has letters that are not ASCII letters."""


def properties(text: str) -> TextProperties:
    """Return the properties of a text."""
    return TextProperties(
        words=len(text.split() if text.isascii() else _TOKEN.findall(text)),
        characters=len(text),
        digits=_DIGIT.search(text) is not None,
        other_script=_has_other_script(text),
    )


def _has_other_script(text: str) -> bool:
    return not text.isascii() and any(letter > "\x7f" and letter.isalpha() for letter in text)


def whole_key(text: str) -> str:
    """Return the letters and digits of a text in lower case, which are equal for texts that only look different."""
    return _NO_WORD.sub("", text).lower()


def text_variants(text: str) -> list[str]:
    """Return the text of an entry, and the text without a date or a speaker in front of it."""
    forms = [text]
    while (shorter := _PREFIX.sub("", forms[-1], count=1)) != forms[-1]:
        forms.append(shorter)
    return forms


def losses(message: str, entry_texts: Sequence[str]) -> frozenset[str] | None:
    """Return what the entries of a message lack of its text; None if they are another text.

    The losses are `end` and `start` (cut), `digits`, `letters` (of another script than ASCII), `case` and `marks`
    (punctuation). `at_risk` returns the losses that a message can have.
    """
    if any(message in text for text in entry_texts):
        return frozenset()
    tokens = _TOKEN.findall(message)
    stored_text = " ".join(entry_texts)
    stored_tokens = set(_TOKEN.findall(stored_text))
    lower_case_tokens = {token.lower() for token in stored_tokens}
    is_missing = [token.lower() not in lower_case_tokens for token in tokens]
    if not any(is_missing):
        return frozenset(_surface_losses(message, tokens, stored_text, stored_tokens))
    if cut_side := _cut_text(message, entry_texts) or _cut(is_missing):
        return frozenset({cut_side})
    kinds = {
        "digits": [any(map(str.isdigit, token)) for token in tokens],
        "letters": [not token.isascii() and token.isalpha() for token in tokens],
    }
    for kind, is_of_kind in kinds.items():
        missing_of_kind = [
            is_lost for is_lost, belongs in zip(is_missing, is_of_kind, strict=True) if belongs
        ]
        missing_others = [
            is_lost for is_lost, belongs in zip(is_missing, is_of_kind, strict=True) if not belongs
        ]
        others_are_stored = sum(missing_others) <= (1 - REST) * len(missing_others)
        if missing_of_kind and all(missing_of_kind) and others_are_stored:
            return frozenset({kind})
    return None


def at_risk(message: str) -> frozenset[str]:
    """Return the losses that a message can have: a text without digits cannot lose them."""
    kinds = {
        "digits": _DIGIT.search(message) is not None,
        "letters": _has_other_script(message),
        "case": message != message.lower(),
        "marks": not _MARKS.isdisjoint(message),
    }
    return frozenset(kind for kind, is_possible in kinds.items() if is_possible)


def _surface_losses(
    message: str, tokens: Sequence[str], stored_text: str, stored_tokens: Iterable[str]
) -> list[str]:
    """Return the losses of a text of which every word is stored, in some form."""
    changes = []
    capitalized_tokens = {token for token in tokens if token != token.lower()}
    if capitalized_tokens and capitalized_tokens.isdisjoint(stored_tokens):
        changes.append("case")
    marks = _MARKS.intersection(message)
    # Without dates and speakers, whose punctuation is not the message's.
    stored_bodies = "".join(text_variants(line)[-1] for line in stored_text.splitlines())
    if marks and marks.isdisjoint(stored_bodies):
        changes.append("marks")
    return changes


def _cut_text(message: str, entry_texts: Sequence[str]) -> str:
    """Return which side of a text is cut, `end` or `start`; "" unless an entry is its exact beginning or end."""
    for text in entry_texts:
        for body in text_variants(text):
            part = body.strip(" .…")
            if len(part) >= SHORTEST_PART and part != message.strip(" .…"):
                if message.startswith(part):
                    return "end"
                if message.rstrip(" .…").endswith(part):
                    return "start"
    return ""


def _cut(is_missing: Sequence[bool]) -> str:
    """Return which side is cut, `end` or `start`: at least two words, of which few are stored; "" for neither."""

    def is_cut(stored_part: Sequence[bool], cut_part: Sequence[bool]) -> bool:
        is_long_enough = len(stored_part) >= 2 and len(cut_part) >= 2
        return is_long_enough and sum(cut_part) >= (1 - REST / 2) * len(cut_part)

    first_missing = is_missing.index(True)
    if is_cut(is_missing[:first_missing], is_missing[first_missing:]):
        return "end"
    after_last_missing = len(is_missing) - is_missing[::-1].index(True)
    if is_cut(is_missing[after_last_missing:], is_missing[:after_last_missing]):
        return "start"
    return ""
