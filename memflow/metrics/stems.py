"""Porter stemmer with a cache; the results equal those of NLTK's PorterStemmer.

The rules are Porter's (1980) with his later extensions and NLTK's. NLTK is not used, since its import takes a second.
"""

from functools import lru_cache
from itertools import pairwise

_VOWELS = frozenset("aeiou")
_IRREGULAR = {
    **{"sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news"},
    **{"innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing"},
    **{"cannings": "canning", "canning": "canning", "howe": "howe"},
    **{"proceed": "proceed", "exceed": "exceed", "succeed": "succeed"},
}
_STEP_2 = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize")),
    *(("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")),
    *(("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive")),
    *(("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
    *(("fulli", "ful"), ("logi", "log")),
)
_STEP_3 = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", "")),
    ("ness", ""),
)
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism"),
    *("ate", "iti", "ous", "ive", "ize"),
)


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the stem of a word, in lower case."""
    found = word.lower()
    if found in _IRREGULAR:
        return _IRREGULAR[found]
    if len(word) <= 2:
        return found
    for step in (_plural, _past, _final_y, _double_suffix, _long_suffix, _suffix, _final_e):
        found = step(found)
    return found


def _consonants(word: str) -> list[bool]:
    """Return whether each letter is a consonant. The letter y is a consonant at the start and after a vowel."""
    flags: list[bool] = []
    for letter in word:
        if letter == "y":
            flags.append(not flags[-1] if flags else True)
        else:
            flags.append(letter not in _VOWELS)
    return flags


def _measure(word: str) -> int:
    """Return Porter's measure m of a word [C](VC)^m[V]: the number of times that a consonant follows a vowel."""
    flags = _consonants(word)
    return sum(not first and second for first, second in pairwise(flags))


def _is_short(word: str) -> bool:
    """Return whether a word ends in consonant-vowel-consonant (not w, x, y), or is vowel-consonant."""
    flags = _consonants(word)
    if len(word) == 2:
        return flags == [False, True]
    return flags[-3:] == [True, False, True] and word[-1] not in "wxy"


def _plural(word: str) -> str:
    """Return the word after step 1a of Porter's algorithm, which removes plural endings."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    """Return the word after step 1b of Porter's algorithm, which removes -ed and -ing."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and not all(_consonants(rest)):
            return _restored(rest)
    return word


def _restored(word: str) -> str:
    """Return a word whose -ed or -ing was removed, with its final e restored or its doubled letter reduced."""
    if word.endswith(("at", "bl", "iz")):
        return f"{word}e"
    if len(word) > 1 and word[-1] == word[-2] and _consonants(word)[-1]:
        return word if word[-1] in "lsz" else word[:-1]
    if word.endswith("*d"):  # NLTK's name of the rule above; it takes such a word for one with that suffix
        return f"{word[:-2]}d"
    return f"{word}e" if _measure(word) == 1 and _is_short(word) else word


def _final_y(word: str) -> str:
    """Return the word after step 1c of Porter's algorithm, which replaces a final y by i."""
    rest = word[:-1]
    return f"{rest}i" if word.endswith("y") and len(rest) > 1 and _consonants(rest)[-1] else word


def _double_suffix(word: str) -> str:
    """Return the word after step 2 of Porter's algorithm, which shortens double suffixes."""
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _double_suffix(word[:-2])
    for suffix, replacement in _STEP_2:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            measured = word[:-3] if suffix == "logi" else rest
            return rest + replacement if _measure(measured) > 0 else word
    return word


def _long_suffix(word: str) -> str:
    """Return the word after step 3 of Porter's algorithm, which shortens suffixes such as -icate and -ful."""
    for suffix, replacement in _STEP_3:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + replacement if _measure(rest) > 0 else word
    return word


def _suffix(word: str) -> str:
    """Return the word after step 4 of Porter's algorithm, which removes the remaining suffixes."""
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            kept = _measure(rest) <= 1 or (suffix == "ion" and rest[-1] not in "st")
            return word if kept else rest
    return word


def _final_e(word: str) -> str:
    """Return the word after step 5 of Porter's algorithm, which removes a final e and reduces a final double l."""
    rest = word.removesuffix("e")
    if rest != word:
        measure = _measure(rest)
        word = rest if measure > 1 or (measure == 1 and not _is_short(rest)) else word
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
