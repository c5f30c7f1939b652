"""Functions with which the scripted chat extracts a state variable's value from a text, without a model or gold.

The extracted value of a topic's variable (scripted_words.py) is the one that comes last. Of any other variable, it is
the last value in the last sentence that contains the variable's name and one of its values.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from memflow.benchmarks.amemgym.scripted_words import advice_values, in_words, worded_values

_SENTENCE = re.compile(r"[.!?;。！？；]+")
_STATEMENT = re.compile(r"your ([a-z0-9 ]+?) is ([a-z0-9 ]+?)(?= and your |,)|你的([^，。]+?)是([^，。]+)")
_GONE = re.compile(r"no longer .*? but ")
_CACHED = 16384
"""Number of cached lines, names and options, which repeat from probe to probe."""


def latest_statement_is(text: str, variable: str, value: str) -> bool:
    """Return whether the last statement about the variable is of this value.

    Other possible values of a variable that the vocabulary does not have are unknown, so a longer value that contains
    this one also matches.
    """
    name = in_words(variable)
    vocabulary_values = worded_values(name)
    if in_words(value) in vocabulary_values:
        return stated_values(text, {name: [*vocabulary_values]})[name] == in_words(value)
    for sentence in reversed(_sentences(text)):
        if _position(sentence, name) >= 0:
            return stated_values(_GONE.sub("", sentence), {variable: [value]})[variable] == value
    return False


@lru_cache(maxsize=_CACHED)
def statements(option: str) -> Mapping[str, str]:
    """Return the value by variable, both in words, for which a scripted option is the correct answer."""
    worded = dict(pair for advice, pair in advice_values() if advice in option)
    matches = _STATEMENT.findall(option.lower())
    return worded | {
        name or chinese: value or chinese_value for name, value, chinese, chinese_value in matches
    }


def best_options(text: str, options: Sequence[str]) -> list[int]:
    """Return the indexes of the options with the most values stated in `text`, or all indexes if no value is stated."""
    values_of_options = [statements(option) for option in options]
    values: dict[str, list[str]] = {}
    for values_of_option in values_of_options:
        for name, value in values_of_option.items():
            values.setdefault(name, []).append(value)
    values_of_text = stated_values(text, values)
    match_counts = [
        sum(values_of_text[name] == value for name, value in values_of_option.items())
        for values_of_option in values_of_options
    ]
    return [index for index, count in enumerate(match_counts) if count == max(match_counts)]


def stated_values(text: str, schema: Mapping[str, Sequence[str]]) -> dict[str, str | None]:
    """Return, by variable of `schema`, the last value that `text` states; None for a variable without one."""
    words = text.lower().replace("_", " ")
    values_of_text: dict[str, str | None] = {}
    for name, values in schema.items():
        vocabulary_values = worded_values(in_words(name))
        if values and all(in_words(value) in vocabulary_values for value in values):
            position, value = max((_position(words, in_words(value)), value) for value in values)
            values_of_text[name] = value if position >= 0 else None
        else:
            values_of_text[name] = _last_stated(_sentences(text), name, values)
    return values_of_text


def _sentences(text: str) -> list[str]:
    """Return the sentences of `text` with all names in words. A line break ends a sentence."""
    return [sentence for line in text.split("\n") for sentence in _sentences_of_line(line)]


@lru_cache(maxsize=_CACHED)
def _sentences_of_line(line: str) -> tuple[str, ...]:
    return tuple(_SENTENCE.split(in_words(line)))


def _last_stated(sentences: Sequence[str], variable: str, values: Sequence[str]) -> str | None:
    """Return the last value in the last sentence that names the variable and a value; None without one."""
    name = in_words(variable)
    for sentence in reversed(sentences):
        if name not in sentence or _position(sentence, name) < 0:
            continue
        # If one value contains another, both end at the same position, and the longer one counts.
        positions = [(_position(sentence, in_words(value)), len(value), value) for value in values]
        position, _, value = max(positions, default=(-1, 0, ""))
        if position >= 0:
            return value
    return None


def _position(sentence: str, words: str) -> int:
    """Return the end position of the last occurrence of `words` as whole words, or -1 without any occurrence."""
    if words not in sentence:  # much faster than the pattern
        return -1
    return max((match.end() for match in _whole_words(words).finditer(sentence)), default=-1)


@lru_cache(maxsize=_CACHED)
def _whole_words(words: str) -> re.Pattern[str]:
    """Return the pattern of `words` as whole words. Chinese words match anywhere, as Chinese has no word boundaries."""
    start, end = (
        r"(?<!\w)" if words[:1].isascii() else "",
        r"(?!\w)" if words[-1:].isascii() else "",
    )
    return re.compile(start + re.escape(words) + end)
