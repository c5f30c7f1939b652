"""Parser of state values in texts, for the examiner. The parser uses no sentence templates and no generation plan.

A text states a value where one sentence contains the variable's name and one of its possible values, both in words:
`Of late my cooking company is a club` states `cooking_company = a_club`. Freely worded texts often name no variable.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

Schema = Mapping[str, Sequence[str]]
"""The possible values of each variable of one user."""

_SENTENCE_END = re.compile(r"[.!?;。！？；\n]+")
_OVER = re.compile(r"(?:no longer|not|不再是|不是)\s*$")
"""Words directly before a value that does not hold any more."""


def stated_values(text: str, schema: Schema) -> dict[str, tuple[str, ...]]:
    """Return the distinct values that the text states for each variable that it names, in the order of the text.

    If a sentence names several variables, a value is assigned to the last variable named before the value.
    """
    found: dict[str, dict[str, None]] = {}
    names = {_in_words(name): name for name in schema}
    for sentence in _sentences(text):
        named = list(_phrases(tuple(names)).finditer(sentence))
        for at, match in enumerate(named):
            variable = names[match[0]]
            several = len(named) > 1
            start = match.end() if several else 0
            end = named[at + 1].start() if at + 1 < len(named) else len(sentence)
            rest = sentence[start:end] if several else sentence.replace(match[0], " | ", 1)
            found.setdefault(variable, {}).update(dict.fromkeys(_values_in(rest, schema[variable])))
    return {variable: tuple(values) for variable, values in found.items() if values}


def mentioned_values(text: str, values: Sequence[str]) -> tuple[str, ...]:
    """Return the distinct values of one variable that occur anywhere in the text, whether or not it is named."""
    found = dict.fromkeys(value for sentence in _sentences(text) for value in _values_in(sentence, values))
    return tuple(found)


def _values_in(sentence: str, values: Sequence[str]) -> Iterator[str]:
    by_words = {_in_words(value): value for value in values}
    for match in _phrases(tuple(by_words)).finditer(sentence):
        if not _OVER.search(sentence[: match.start()]):
            yield by_words[match[0]]


def _sentences(text: str) -> Iterator[str]:
    return (" ".join(sentence.split()) for sentence in _SENTENCE_END.split(_in_words(text, "\n")))


def _in_words(text: str, keep: str = "") -> str:
    """Return a text in lower case, with one space for each underscore and each run of white space except `keep`."""
    words = text.casefold().replace("_", " ")
    return words if keep else " ".join(words.split())


@lru_cache(maxsize=4096)
def _phrases(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that matches any of the phrases as whole words (in Chinese, as substrings), longest first."""
    longest = sorted(phrases, key=len, reverse=True)
    bounded = (
        (r"(?<!\w)" if each[:1].isascii() else "")
        + re.escape(each)
        + (r"(?!\w)" if each[-1:].isascii() else "")
        for each in longest
    )
    return re.compile("|".join(bounded) or r"(?!)")
