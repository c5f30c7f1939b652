"""How the scripted chat finds the value of a state variable in a text, without a model and without gold.

It matches a sentence with the variable's name and one of its values. The latest such sentence counts, and in it the
last value.
"""

import re
from collections.abc import Mapping, Sequence

_SENTENCE = re.compile(r"[.!?;。！？；\n]+")
_STATEMENT = re.compile(r"your ([a-z0-9 ]+?) is ([a-z0-9 ]+?)(?= and your |,)|你的([^，。]+?)是([^，。]+)")
_GONE = re.compile(r"no longer .*? but ")


def in_words(name: str) -> str:
    """Return a variable or value name as texts write it: `cooking_company` becomes `cooking company`."""
    return " ".join(name.lower().replace("_", " ").split())


def last_stated(text: str, variable: str, values: Sequence[str]) -> str | None:
    """Return the value that `text` last states for the variable, or None."""
    name = in_words(variable)
    for sentence in reversed(_SENTENCE.split(in_words_by_line(text))):
        if _position(sentence, name) < 0:
            continue
        # If one value contains another, both end at the same place and the longer one is meant.
        places = [(_position(sentence, in_words(value)), len(value), value) for value in values]
        place, _, value = max(places, default=(-1, 0, ""))
        if place >= 0:
            return value
    return None


def latest_statement_is(text: str, variable: str, value: str) -> bool:
    """Return whether the latest sentence about the variable states this value. Other possible values are unknown, so
    a longer value that contains it also matches."""
    name = in_words(variable)
    for sentence in reversed(_SENTENCE.split(in_words_by_line(text))):
        if _position(sentence, name) >= 0:
            return last_stated(_GONE.sub("", sentence), variable, [value]) == value
    return False


def in_words_by_line(text: str) -> str:
    """Return `text` in words, with its line breaks."""
    return "\n".join(in_words(line) for line in text.split("\n"))


def statements(option: str) -> dict[str, str]:
    """Return the variables and values that a scripted option is written for, in words."""
    found = _STATEMENT.findall(option.lower())
    return {name or chinese: value or meant for name, value, chinese, meant in found}


def best_options(text: str, options: Sequence[str]) -> list[int]:
    """Return the indices of the options with the most values stated in `text`; all of them where none is stated."""
    claims = [statements(option) for option in options]
    values: dict[str, list[str]] = {}
    for claim in claims:
        for name, value in claim.items():
            values.setdefault(name, []).append(value)
    stated = {name: last_stated(text, name, possible) for name, possible in values.items()}
    matches = [sum(stated[name] == value for name, value in claim.items()) for claim in claims]
    return [index for index, count in enumerate(matches) if count == max(matches)]


def stated_values(text: str, schema: Mapping[str, Sequence[str]]) -> dict[str, str | None]:
    """Return the value that `text` last states for each variable of `schema`, or None."""
    return {name: last_stated(text, name, values) for name, values in schema.items()}


def _position(sentence: str, words: str) -> int:
    """Return the end of the last occurrence of `words` as whole words; -1 where there is none. Chinese has no word
    boundaries."""
    left, right = (r"(?<!\w)" if words[:1].isascii() else "", r"(?!\w)" if words[-1:].isascii() else "")
    found = [match.end() for match in re.finditer(left + re.escape(words) + right, sentence)]
    return found[-1] if found else -1
