"""Reading of the words: the facts that users can have, and the templates of messages and questions."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.packaged import load_yaml
from memflow.benchmarks.published_file import File, records_of
from memflow.benchmarks.raw_records import RawRecord, validated
from memflow.benchmarks.raw_records import parse_records as parse
from memflow.benchmarks.retraction.config import Language
from memflow.errors import BadInput
from memflow.records import Record


class FactWords(BaseModel):
    """The words of one kind of fact. Templates name the owner (`{whose}`; `{who}` as a subject) and the `{value}`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    topic: str | None = None
    """The topic whose facts are taken back together, such as an illness."""
    noun: str
    values: tuple[str, ...] = Field(min_length=6)
    tell: tuple[str, ...] = Field(min_length=1)
    ask: str
    indirect: str = ""
    """The question as a part of a sentence; by default, as in Chinese, `ask` without its mark."""
    task: str


class Words(BaseModel):
    """The words of one language."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: Language
    users: tuple[str, ...]
    mine: str
    yours: str
    relatives: dict[str, str]
    forms: dict[str, tuple[str, ...]] = {}
    """Words that depend on the subject: for the user, the user who is addressed, and a relative."""
    cannot_say: str
    yes: str
    no: str
    openings: tuple[str, ...]
    acknowledgements: tuple[str, ...]
    echoes: tuple[str, ...]
    done: tuple[str, ...]
    claim_replies: tuple[str, ...]
    """Replies to what others claim."""
    fillers: tuple[tuple[str, str], ...]
    requests: dict[str, str]
    mistakes: dict[str, str]
    questions: dict[str, str]
    topics: dict[str, str]
    unfit: dict[str, tuple[str, ...]] = {}
    """The facts that a frame does not fit: a fate, an audience or, for the same fact of another person, `relative`."""
    facts: dict[str, FactWords]

    def whose(self, owner: str, *, second_person: bool = False) -> str:
        """Return the owner of a fact in words: the user for an empty `owner`, otherwise a relative."""
        words = self.relatives[owner] if owner else self.mine
        return self.yours + words.removeprefix(self.mine) if second_person else words

    def filled(self, template: str, owner: str = "", *, second_person: bool = False, **words: str) -> str:
        """Return a template with its words. A name in upper case, such as `{Whose}`, begins with a capital."""
        whose = self.whose(owner, second_person=second_person)
        person = 2 if owner else int(second_person)
        forms = {name: variants[person] for name, variants in self.forms.items() if person < len(variants)}
        words = {"who": whose.removesuffix("'s"), **forms, **words, "whose": whose}
        return template.format_map(
            words | {name.capitalize(): _capital(text) for name, text in words.items()}
        )

    def noun(self, fact: str, owner: str = "") -> str:
        """Return what requests call a fact, such as `my landlord's name`."""
        return self.filled(self.facts[fact].noun, owner)

    def indirect(self, fact: str) -> str:
        """Return the question for a fact of the user as a part of a sentence, such as `which gym I go to`."""
        words = self.facts[fact]
        return self.filled(words.indirect or words.ask.removesuffix("？"))

    def fits(self, fact: str, *frames: str) -> bool:
        """Return whether a fact fits all frames."""
        return not any(fact in self.unfit.get(frame, ()) for frame in frames)

    def statement(
        self, fact: str, value: str, owner: str = "", *, variant: int = 0, second_person: bool = False
    ) -> str:
        """Return the sentence that states a fact."""
        templates = self.facts[fact].tell
        template = templates[variant % len(templates)]
        return self.filled(template, owner, second_person=second_person, value=value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return a record for each file of words. Raises BadInput for a file that is not YAML."""
    return records_of(dataset, files, lambda source: _read)


def _read(file: File) -> Iterator[RawRecord]:
    try:
        content: Any = yaml.safe_load(file.text())
    except yaml.YAMLError as wrong:
        raise file.bad(f"the file is not YAML: {wrong}") from wrong
    return parse([RawRecord("the file", content)], validated(Words, "language"))


@cache
def shipped_words() -> dict[str, Words]:
    """Return the words that ship with memflow, by language: the examiner's and the scripted reader's vocabulary."""
    package = "memflow.benchmarks.retraction"
    return {
        language: Words.model_validate(load_yaml(package, f"sample/words_{language}.yaml"))
        for language in ("en", "zh")
    }


@lru_cache(maxsize=8)
def _words(content: str) -> Words:
    return Words.model_validate_json(content)


def load_words(records: Sequence[Record]) -> dict[str, Words]:
    """Return the words by language. Raises BadInput if a record is invalid or a language has no words."""
    for record in records:
        if record.reason is not None:
            raise BadInput(f"{record.source}: {record.reason}. Fix the file, then rerun.")
    found = {record.record_id: _words(record.content) for record in records}
    if missing := {"en", "zh"} - found.keys():
        raise BadInput(
            f"the words of {', '.join(sorted(missing))} are missing; requests need both languages. Add the data set "
            "retraction_words."
        )
    return found
