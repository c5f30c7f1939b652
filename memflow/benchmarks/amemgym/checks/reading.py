"""Parser of state values in texts, for the examiner. The parser uses no sentence templates and no generation plan.

A text states a value where one sentence contains the variable's name and one of its possible values, both in words:
`Of late my cooking company is a club` states `cooking_company = a_club`. Freely worded texts often name no variable. A
sentence about the past, a wish, a question or another person states nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

Schema = Mapping[str, Sequence[str]]
"""The possible values of each variable of one user."""

_SENTENCE = re.compile(r"[^.!?;。！？；\n]+[.!?;。！？；\n]*")
_OVER = re.compile(r"(?:no longer|not|不再是|不是)\s*$")
"""Words directly before a former value."""
_NO_STATEMENT = re.compile(
    r"\?|？|n['’]t\b|\b(?:used to|was|were|had been|formerly|previously|before|back then|until|any ?more|no more|never|"
    r"consider\w*|think\w*|thought|wish\w*|hop(?:e|es|ed|ing)|might|could|would|should|if|whether|plan\w* to|"
    r"want\w* to|unlike)\b|以前|之前|过去|曾|原来|原本|本来|想过|考虑|如果|要是|希望|也许|可能|吗"
)
"""Words of sentences that state no current value."""
_OF_ANOTHER = re.compile(r"(?:['’]s|\bhis|\bher|\btheir|[他她]们?的)\s*$")
"""Words directly before a variable of another person."""


def stated_values(text: str, schema: Schema) -> dict[str, tuple[str, ...]]:
    """Return the distinct values that the text states for each variable that it names, in the order of the text.

    If a sentence names several variables, a value is assigned to the last variable named before the value.
    """
    values_by_variable: dict[str, dict[str, None]] = {}
    variables = {_in_words(name): name for name in schema}
    for sentence in _sentences(text):
        matches = list(_phrases(tuple(variables)).finditer(sentence))
        for index, match in enumerate(matches):
            variable = variables[match[0]]
            if _is_doubtful(sentence, match.start(), schema[variable]):
                continue
            if len(matches) == 1:
                # The value may precede the variable. The variable's own words are no value.
                searched_text = sentence.replace(match[0], " | ", 1)
            else:
                end = matches[index + 1].start() if index + 1 < len(matches) else len(sentence)
                searched_text = sentence[match.end() : end]
            values = _stated_in(searched_text, schema[variable])
            values_by_variable.setdefault(variable, {}).update(
                dict.fromkeys(values)
            )  # a dict keeps the order, without repeats
    return {variable: tuple(values) for variable, values in values_by_variable.items() if values}


def mentioned_values(text: str, values: Sequence[str]) -> tuple[str, ...]:
    """Return the distinct values of one variable that occur anywhere in the text, whether or not it is named."""
    mentions = dict.fromkeys(value for sentence in _sentences(text) for value in _stated_in(sentence, values))
    return tuple(mentions)


def _stated_in(sentence: str, values: Sequence[str]) -> Iterator[str]:
    """Yield each value that a sentence contains in words, except after words such as `no longer`."""
    by_words = {_in_words(value): value for value in values}
    for match in _phrases(tuple(by_words)).finditer(sentence):
        if not _OVER.search(sentence[: match.start()]):
            yield by_words[match[0]]


def _is_doubtful(sentence: str, start: int, values: Sequence[str]) -> bool:
    """Return whether a sentence may state no value of the variable that it names at `start`."""
    other_words = _phrases(tuple(map(_in_words, values))).sub(" ", sentence)
    return _OF_ANOTHER.search(sentence[:start]) is not None or _NO_STATEMENT.search(other_words) is not None


def _sentences(text: str) -> Iterator[str]:
    words = text.casefold().replace("_", " ")
    return (" ".join(sentence.split()) for sentence in _SENTENCE.findall(words))


@lru_cache(maxsize=4096)
def _in_words(name: str) -> str:
    """Return a name or value in lower case, with one space for each underscore and each run of white space."""
    return " ".join(name.casefold().replace("_", " ").split())


@lru_cache(maxsize=4096)
def _phrases(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that matches any of the phrases as whole words (in Chinese, as substrings), longest first."""
    patterns = []
    for phrase in sorted(phrases, key=len, reverse=True):
        start = r"(?<!\w)" if phrase[:1].isascii() else ""
        end = r"(?!\w)" if phrase[-1:].isascii() else ""
        patterns.append(f"{start}{re.escape(phrase)}{end}")
    matches_nothing = r"(?!)"
    return re.compile("|".join(patterns) or matches_nothing)
