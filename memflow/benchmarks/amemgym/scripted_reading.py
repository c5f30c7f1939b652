"""How the scripted chat reads: where a text says which value a state variable has. No model, and no gold.

It knows plain statements alone, of the kind the scripted simulator makes: a sentence with the variable's
name and one of its values, in words. The latest such sentence counts, and in it the value named last.
"""

import re
from collections.abc import Mapping, Sequence

_SENTENCE = re.compile(r"[.!?;。！？；\n]+")
_STATEMENT = re.compile(r"your ([a-z0-9 ]+?) is ([a-z0-9 ]+?)(?= and your |,)|你的([^，。]+?)是([^，。]+)")
_GONE = re.compile(r"no longer .*? but ")


def in_words(name: str) -> str:
    """`cooking_company` as `cooking company`: how texts name variables and values."""
    return " ".join(name.lower().replace("_", " ").split())


def last_stated(text: str, variable: str, values: Sequence[str]) -> str | None:
    """The value that `text` last states for the variable, or None."""
    name = in_words(variable)
    for sentence in reversed(_SENTENCE.split(in_words_by_line(text))):
        if _position(sentence, name) < 0:
            continue
        # Where one value contains another, both end together and the longer one is meant.
        places = [(_position(sentence, in_words(value)), len(value), value) for value in values]
        place, _, value = max(places, default=(-1, 0, ""))
        if place >= 0:
            return value
    return None


def latest_is(text: str, variable: str, value: str) -> bool:
    """Whether the latest sentence of `text` that speaks of the variable says this value. Nothing else is known of
    the values it may have, so one that contains another is taken for it."""
    name = in_words(variable)
    for sentence in reversed(_SENTENCE.split(in_words_by_line(text))):
        if _position(sentence, name) >= 0:
            return last_stated(_GONE.sub("", sentence), variable, [value]) == value
    return False


def in_words_by_line(text: str) -> str:
    """`text` in words, its lines kept."""
    return "\n".join(in_words(line) for line in text.split("\n"))


def statements(option: str) -> dict[str, str]:
    """The circumstances that a scripted option says it is for: variable to value, in words."""
    found = _STATEMENT.findall(option.lower())
    return {name or chinese: value or meant for name, value, chinese, meant in found}


def best_options(text: str, options: Sequence[str]) -> list[int]:
    """The options, by index, of whose circumstances `text` states most; all of them where it states none."""
    claims = [statements(option) for option in options]
    values: dict[str, list[str]] = {}
    for claim in claims:
        for name, value in claim.items():
            values.setdefault(name, []).append(value)
    stated = {name: last_stated(text, name, possible) for name, possible in values.items()}
    matches = [sum(stated[name] == value for name, value in claim.items()) for claim in claims]
    return [index for index, count in enumerate(matches) if count == max(matches)]


def values_in(text: str, schema: Mapping[str, Sequence[str]]) -> dict[str, str | None]:
    """The value that `text` last states for each variable of `schema`, or None."""
    return {name: last_stated(text, name, values) for name, values in schema.items()}


def _position(sentence: str, words: str) -> int:
    """Where `words` last ends in `sentence`, as whole words; -1 where it does not stand there.

    Chinese has no spaces between words: there the characters are enough.
    """
    left, right = (r"(?<!\w)" if words[:1].isascii() else "", r"(?!\w)" if words[-1:].isascii() else "")
    found = [match.end() for match in re.finditer(left + re.escape(words) + right, sentence)]
    return found[-1] if found else -1
