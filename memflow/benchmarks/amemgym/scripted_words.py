"""The vocabulary of the scripted simulator, from scripted_words.yaml. scripted_reading.py matches the same patterns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from memflow.chat.requests import ChatRequest


@dataclass(frozen=True)
class ScriptVocabulary:
    """The vocabulary of one language. Patterns contain {variable}, {value} and {old}."""

    topics: Mapping[str, str]
    """Topics and their questions."""
    further: str
    further_question: str
    """Pattern of further topics and their question, if there are more questions than topics."""
    aspects: Mapping[str, Sequence[str]]
    """Aspects that answers depend on, and their values."""
    name: str
    """Pattern of a variable's name: {topic}, {aspect}."""
    both: str
    """Pattern of the topic of a merged variable: {one}, {other}."""
    names: Sequence[str]
    occasions: Sequence[str]
    summary: str
    event: str
    move: str
    moves: str
    told: Sequence[str]
    told_after: str
    asked: Sequence[str]
    next: Sequence[str]
    replies: Sequence[str]
    circumstance: str
    circumstances: str
    """Separator of circumstances."""
    advice: str
    space: str
    """Separator of sentences."""


@cache
def _vocabularies() -> dict[str, ScriptVocabulary]:
    text = files(__package__).joinpath("scripted_words.yaml").read_text(encoding="utf-8")
    return {language: ScriptVocabulary(**words) for language, words in yaml.safe_load(text).items()}


def vocabulary_of(request: ChatRequest) -> ScriptVocabulary:
    """Return the vocabulary of the request's language."""
    return _vocabularies()["zh" if request.prompt.endswith("_zh") else "en"]
