"""WordNet's synonyms from a local folder, keeping memflow.metrics.meteor.Synonyms. Nothing is downloaded.

The folder is a WordNet 3.0 database (Debian's package wordnet-base puts one at /usr/share/wordnet), or an nltk_data
folder with one at corpora/wordnet. nltk's own reader is not used: it refuses folders outside its search path, wants
files that no package ships, and reads all senses where synonyms need a few.
"""

from pathlib import Path

from memflow.errors import BadInput, MissingData
from memflow.fingerprint import digest
from resources.checksums import checksums

PARTS = ("noun", "verb", "adj", "adv")
_ENDINGS = {
    "noun": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}
"""Endings that a base form loses, and what it has instead: WordNet's morphy."""
_RULES = {
    part: [(old, new) for old, _, new in (rule.partition(":") for rule in rules.split())]
    for part, rules in _ENDINGS.items()
}


class WordNet:
    """Synonyms of English words. The folder is looked at now, and read at the first word."""

    def __init__(self, folder: str | Path) -> None:
        """Raises MissingData where the folder is not there, or holds no WordNet."""
        given = Path(folder).expanduser()
        inside = given / "corpora" / "wordnet"
        self.folder = inside if inside.is_dir() else given
        missing = [name for name in _files() if not (self.folder / name).is_file()]
        if missing:
            raise MissingData(
                f"{self.folder} is no WordNet folder: {missing[0]} is missing. Debian's package wordnet-base has it; "
                "set `wordnet` in memflow.toml (MEMFLOW_WORDNET) to its folder /usr/share/wordnet"
            )
        self._senses: dict[str, dict[str, list[int]]] = {}
        self._exceptions: dict[str, dict[str, list[str]]] = {}
        self._data: dict[str, bytes] = {}
        self._known: dict[str, frozenset[str]] = {}

    @property
    def fingerprint(self) -> str:
        """What it says, wherever it lies: of the files that are read."""
        return digest("wordnet", checksums(self.folder, _files()))

    def of(self, word: str) -> frozenset[str]:
        """The single words of every sense of `word` and of its base forms, in WordNet's own case."""
        if word not in self._known:
            if not self._senses:
                self._read()
            lower = word.lower()
            self._known[word] = frozenset(
                name
                for part in PARTS
                for form in self._forms(lower, part)
                for offset in self._senses[part][form]
                for name in self._names(part, offset)
            )
        return self._known[word]

    def _forms(self, word: str, part: str) -> set[str]:
        bases = self._exceptions[part].get(word)
        if bases is None:
            bases = [word[: -len(old)] + new for old, new in _RULES[part] if word.endswith(old)]
        return {form for form in (word, *bases) if form in self._senses[part]}

    def _names(self, part: str, offset: int) -> list[str]:
        line = self._data[part][offset : self._data[part].index(b"\n", offset)].decode("utf-8").split()
        names = line[4 : 4 + 2 * int(line[3], 16) : 2]
        return [name.partition("(")[0] for name in names if "_" not in name]

    def _read(self) -> None:
        for part in PARTS:
            self._data[part] = (self.folder / f"data.{part}").read_bytes()
            exceptions = (self.folder / f"{part}.exc").read_text(encoding="utf-8").splitlines()
            self._exceptions[part] = {
                word: bases for word, *bases in map(str.split, filter(None, exceptions))
            }
            senses: dict[str, list[int]] = {}
            index = self.folder / f"index.{part}"
            with index.open(encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    if line.startswith(" "):  # the licence
                        continue
                    try:
                        fields = line.split()
                        senses[fields[0]] = [int(offset) for offset in fields[-int(fields[2]) :]]
                    except (IndexError, ValueError) as wrong:
                        raise BadInput(
                            f"{index}, line {number} is not WordNet's; get the folder anew"
                        ) from wrong
            self._senses[part] = senses


def _files() -> list[str]:
    return [name for part in PARTS for name in (f"data.{part}", f"index.{part}", f"{part}.exc")]
