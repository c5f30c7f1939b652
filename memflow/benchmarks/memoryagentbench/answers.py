"""How answers are read and compared with the gold, as the code of MemoryAgentBench does it, and the judge's answers.

Several answers may be accepted: the best match counts. An answer is read in two ways, as `Family.parsed` says.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

from pydantic import BaseModel, Field, model_validator
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from memflow.benchmarks.memoryagentbench.sources import EVENTS, EXACT, F1, RECALL_AT, ROUGE, SUBSTRING, Family
from memflow.metrics.text import rouge_with_recall

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_LABEL = "answer:"
_ALONE = frozenset({"yes", "no", "noanswer"})
_PARENTHESES = re.compile(r"\([^()]*\)")
_NUMBER = re.compile(r"^\d+[.)、]?\s*[-—–]?\s*")


class Fluency(BaseModel):
    """Whether a summary is fluent: 1, or 0 if it is incoherent, repetitive or incomplete."""

    fluency: int = Field(ge=0, le=1)


class KeyPoints(BaseModel):
    """The numbers of the key points that a summary has, from 1."""

    supported: list[int] = Field(max_length=1000)


class Sentences(BaseModel):
    """The number of a summary's sentences, and of those that the expert's summary supports."""

    sentences: int = Field(ge=0)
    supported: int = Field(ge=0)

    @model_validator(mode="after")
    def _no_more_supported(self) -> "Sentences":
        if self.supported > self.sentences:
            raise ValueError(f"{self.supported} of {self.sentences} sentences are supported")
        return self


def normalize(text: str) -> str:
    """Return a text in lower case, without ASCII punctuation, then without articles, with single spaces."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def parsed_line(answer: str) -> str:
    """Return what follows the first `Answer:` in its line, whatever the case; without it, the first line."""
    at = answer.lower().find(_LABEL)
    line = answer[at + len(_LABEL) :] if at >= 0 else answer
    line = line.partition("\n")[0].strip()
    return line[len(_LABEL) :].strip() if line.lower().startswith(_LABEL) else line


def substring_match(answer: str, gold: str) -> float:
    """Return 1 if the normalized answer contains the normalized gold: `Not Belgium` contains `Belgium`."""
    return float(normalize(gold) in normalize(answer))


def equal(answer: str, gold: str) -> float:
    """Return 1 if the normalized texts are equal."""
    return float(normalize(answer) == normalize(gold))


def f1(answer: str, gold: str) -> float:
    """Return the F1 of the words. A text that is yes, no or noanswer has an F1 of 0 with any other text."""
    answer, gold = normalize(answer), normalize(gold)
    if answer != gold and (answer in _ALONE or gold in _ALONE):
        return 0.0
    words, wanted = answer.split(), gold.split()
    common = sum((Counter(words) & Counter(wanted)).values())
    if not common:
        return 0.0
    precision, recall = common / len(words), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


def events_contained(answer: str, golds: Sequence[str]) -> float:
    """Return 1 if the answer contains every gold event, in lower case and not normalized."""
    return float(all(gold.lower() in answer.lower() for gold in golds))


def title_of(entity: str) -> str:
    """Return the title of an entity of entity2id.json, such as `<http://dbpedia.org/resource/Alien_(film)>`."""
    name = re.sub("[_>-]", " ", entity.rpartition("/")[2])
    return " ".join(_PARENTHESES.sub("", name).split())


def listed_titles(answer: str, known: Sequence[str]) -> list[str]:
    """Return the known title that is nearest to each line after the first `1.`, by edit distance without case.

    Without `1.` the items between commas count. A blank line has a nearest title too, as published. Of equally near
    titles the first counts; the published code takes any.
    """
    _, mark, after = answer.partition("1.")
    lines = (after if mark else answer.replace(",", "\n")).split("\n")
    choices = [title.lower() for title in known]
    titles = []
    for line in lines:
        name = " ".join(_NUMBER.sub("", _PARENTHESES.sub("", line.strip())).split())
        titles.append(known[process.extractOne(name.lower(), choices, scorer=Levenshtein.distance)[2]])
    return titles


_BEST_OF_GOLDS: dict[str, Callable[[str, str], float]] = {SUBSTRING: substring_match, EXACT: equal, F1: f1}


def values(asked: Family, answer: str, golds: Sequence[str], known: Sequence[str] = ()) -> dict[str, float]:
    """Return an answer's values by metric name. `golds` are the accepted answers, `known` all titles."""
    if asked.parsed == "titles":
        titles = listed_titles(answer, known)
        return {name: sum(gold in titles[:k] for gold in golds) / len(golds) for name, k in RECALL_AT.items()}
    readings = [parsed_line(answer), *([answer] if asked.parsed == "better" else [])]
    pairs = [(reading, gold) for reading in readings for gold in golds]
    best = {metric: max(compare(*pair) for pair in pairs) for metric, compare in _BEST_OF_GOLDS.items()}
    for name, is_summary in ROUGE.items():
        rouge = [rouge_with_recall(*pair, summary=is_summary) for pair in pairs]
        best[f"{name}_f1"], best[f"{name}_recall"] = map(max, zip(*rouge, strict=True))
    return best | ({EVENTS: events_contained(answer, golds)} if asked.prefix == "eventqa_" else {})
