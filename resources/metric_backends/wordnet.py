"""WordNet's synonyms from a local folder: implements memflow.metrics.meteor.Synonyms. Nothing is downloaded.

The folder is a WordNet 3.0 database (Debian's wordnet-base: /usr/share/wordnet) or an nltk_data folder. memflow does
not use nltk's reader, which rejects folders outside its search path and needs files that no package ships.
"""

from pathlib import Path

from memflow.errors import BadInput, MissingData
from memflow.fingerprint import digest
from memflow.resources.files.checksums import checksums

PARTS = ("noun", "verb", "adj", "adv")
_ENDINGS = {
    "noun": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}
"""Suffix replacements (inflected:base) per part of speech, from WordNet's morphy."""
_RULES = {
    part: [(old, new) for old, _, new in (rule.partition(":") for rule in rules.split())]
    for part, rules in _ENDINGS.items()
}


class WordNet:
    """Synonyms of English words. The files are read on the first lookup."""

    def __init__(self, folder: str | Path) -> None:
        """Set the folder. Raises MissingData if a file of WordNet is missing."""
        given = Path(folder).expanduser()
        inside = given / "corpora" / "wordnet"
        self.folder = inside if inside.is_dir() else given
        missing = [name for name in _files() if not (self.folder / name).is_file()]
        if missing:
            raise MissingData(
                f"{self.folder} is not a WordNet folder: {missing[0]} is missing. Set `wordnet` in "
                "memflow.toml to a WordNet folder, such as /usr/share/wordnet of Debian's package "
                "wordnet-base."
            )
        self._senses: dict[str, dict[str, list[int]]] = {}
        self._exceptions: dict[str, dict[str, list[str]]] = {}
        self._data: dict[str, bytes] = {}
        self._known: dict[str, frozenset[str]] = {}

    @property
    def fingerprint(self) -> str:
        """The content hash of the WordNet files."""
        return digest("wordnet", checksums(self.folder, _files()))

    def of(self, word: str) -> frozenset[str]:
        """Return the one-word synonyms of `word` and its base forms, in all senses."""
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
                    if line.startswith(" "):  # the license
                        continue
                    try:
                        fields = line.split()
                        senses[fields[0]] = [int(offset) for offset in fields[-int(fields[2]) :]]
                    except (IndexError, ValueError) as wrong:
                        raise BadInput(f"{index}, line {number}, is invalid. Reinstall WordNet.") from wrong
            self._senses[part] = senses


def _files() -> list[str]:
    return [name for part in PARTS for name in (f"data.{part}", f"index.{part}", f"{part}.exc")]
