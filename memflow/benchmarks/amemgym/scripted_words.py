"""The vocabulary of the scripted simulator, from scripted_words.yaml, and its texts of variables, values and topics.

A topic has a question and two variables with three values each, worded one by one. More variables, values or questions
are composed from `aspects`. A message that states a value of a topic contains the value's name in words, and no other
text does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from memflow.benchmarks.packaged import load_yaml
from memflow.chat.requests import ChatRequest


def in_words(name: str) -> str:
    """Return a variable or value name in words: `cooking_company` becomes `cooking company`."""
    return " ".join(name.lower().replace("_", " ").split())


@dataclass(frozen=True)
class ValueTexts:
    """What users say if a variable has a value (`told`) or gets it (`news`). All of it contains the value in words."""

    told: Sequence[str]
    news: Sequence[str]


@dataclass(frozen=True)
class ScriptVocabulary:
    """The vocabulary of one language. In patterns, names in braces are replaced."""

    topics: Mapping[str, Any]
    """By topic: its question, its variables with values and advice, and its exchanges (ask, reply, question, reply)."""
    shared: Mapping[str, Any]
    """Values of variables that several topics have under their own names: `{topic}_{variable}`."""
    aspects: Mapping[str, Sequence[str]]
    """Further variables of every topic, and their values."""
    name: str
    further: str
    further_question: str
    told: Sequence[str]
    advice: str
    asked: str
    frames: Mapping[str, Sequence[str]]
    """Messages with values (`told`, or `aside` within a sentence) and a question on their topic (`ask`), by kind."""
    also: str
    """What connects a statement to the one before it."""
    names: Sequence[str]
    occasions: Sequence[str]
    event: str
    comma: str
    space: str
    """Separator of sentences."""
    replies: Sequence[str]

    def variables(self, topic: str, width: int, size: int) -> dict[str, list[str]]:
        """Return the values, at least `size`, of up to `width` variables by name: the topic's, then aspects'."""
        variables: list[tuple[str, list[str]]] = []
        for name, values in self.topics.get(topic, {}).get("variables", {}).items():
            if len(values) >= size:
                # The name of a variable of several topics includes the topic.
                full_name = self.name.format(topic=topic, aspect=name) if name in self.shared else name
                variables.append((full_name, [*values]))
        for name, values in self.aspects.items():
            variables.append((self.name.format(topic=topic, aspect=name), [*values]))
        return dict(variables[:width])

    def canonical(self, variable: str) -> str:
        """Return the name of the shared variable that a topic's variable is, or the variable's own name."""
        words = in_words(variable)
        return next((name for name in self.shared if words.endswith(in_words(name))), variable)

    def topic_of(self, variable: str) -> str:
        """Return the topic of a variable; of a shared variable, the first topic that has it."""
        name = self.canonical(variable)
        topics_with_variable = (topic for topic, words in self.topics.items() if name in words["variables"])
        topics_in_name = (topic for topic in self.topics if variable.startswith(topic))
        return next(topics_in_name, next(topics_with_variable, ""))

    def texts(self, variable: str, value: str) -> ValueTexts:
        """Return the texts of a value, composed for one that the vocabulary does not have."""
        name, words = in_words(variable), in_words(value)
        texts = [pattern.format(variable=name, value=words) for pattern in self.told]
        return self.worded.get(in_words(self.canonical(variable)), {}).get(words) or ValueTexts(texts, texts)

    def joined(self, statements: Sequence[str]) -> str:
        """Return the statements as one text, in which every later one is connected to the one before it."""
        head, *tail = statements
        return self.space.join([head, *(self.also + self.within_sentence(text) for text in tail)])

    @staticmethod
    def within_sentence(text: str) -> str:
        """Return a statement as it is written after other words of the same sentence."""
        return text if text.startswith(("I ", "I'")) else text[:1].lower() + text[1:]

    @cached_property
    def worded(self) -> dict[str, dict[str, ValueTexts]]:
        """The texts of the topics' variables by variable, then by value, both in words."""
        variables: dict[str, Any] = {}
        for words in self.topics.values():
            variables |= {
                name: values for name, values in words["variables"].items() if name not in self.shared
            }
        variables |= self.shared
        return {
            in_words(name): {
                in_words(value): ValueTexts(texts["told"], texts["news"]) for value, texts in values.items()
            }
            for name, values in variables.items()
        }

    def advice_for(self, question: str, variant: Mapping[str, str]) -> str:
        """Return the answer to a question for a user with these values."""
        topic = next((words for words in self.topics.values() if words["question"] == question), None)
        variables = topic["variables"] if topic is not None else {}
        advice = []
        for name, value in variant.items():
            sentence = variables.get(self.canonical(name), {}).get(value, {}).get("advice")
            advice.append(sentence or self.advice.format(variable=in_words(name), value=in_words(value)))
        return self.space.join(advice)

    @cached_property
    def advice_values(self) -> dict[str, tuple[str, str]]:
        """The (variable, value) that each worded advice is meant for, in words, by the advice."""
        meanings: dict[str, tuple[str, str]] = {}
        for words in self.topics.values():
            for name, values in words["variables"].items():
                for value, texts in values.items():
                    meanings[texts["advice"]] = (in_words(name), in_words(value))
        return meanings

    @cached_property
    def exchanges(self) -> dict[str, str]:
        """The reply to each question that users ask in dialogues, by question."""
        replies: dict[str, str] = {}
        for words in self.topics.values():
            for question, reply, follow_up, reply_to_follow_up in words["exchanges"]:
                replies[question] = reply
                replies[follow_up] = reply_to_follow_up
        return replies


@cache
def vocabularies() -> Mapping[str, ScriptVocabulary]:
    """Return the vocabularies by language, such as `en`."""
    return {
        language: ScriptVocabulary(**words)
        for language, words in load_yaml(__package__, "scripted_words.yaml").items()
    }


def vocabulary_of(request: ChatRequest) -> ScriptVocabulary:
    """Return the vocabulary of the request's language."""
    return vocabularies()["zh" if request.prompt.endswith("_zh") else "en"]


@cache
def worded_values(variable: str) -> frozenset[str]:
    """Return the values, in words, of a variable of a topic in any language; empty for any other variable."""
    names = ((vocabulary, in_words(vocabulary.canonical(variable))) for vocabulary in vocabularies().values())
    return frozenset(value for vocabulary, name in names for value in vocabulary.worded.get(name, ()))


def advice_values() -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield (advice, (variable, value)) for each worded advice and what it is meant for, in words."""
    for vocabulary in vocabularies().values():
        yield from vocabulary.advice_values.items()
