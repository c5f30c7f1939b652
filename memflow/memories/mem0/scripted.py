"""The scripted chat's handlers for Mem0.

Every statement, except the assistant's, is a fact that replaces the memory with the same subject. In the graph, a
statement is a relation from its speaker to its last word, labeled by its subject.
"""

import re
from collections.abc import Iterator

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.mem0.answers import (
    Decision,
    Decisions,
    Entities,
    Entity,
    Fact,
    Facts,
    Names,
    Obsolete,
    Relation,
    Relations,
    Summary,
)
from memflow.memories.script_helpers import statements, subject
from memflow.words import search_words

_NUMBERED = re.compile(r"^(\d+)\. ?(?:\[[^\]]*\] ?)?(.*)$")
_SELF = re.compile(r"\b(?:I|[Mm]e|[Mm]y)\b|我")
_SPEAKER = re.compile(r"([^\s:][^:\n]{0,39}): ")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number, text) for each line of a numbered list, without dates; continuation lines repeat the number."""
    number = 0
    for line in text.splitlines():
        match = _NUMBERED.match(line)
        if match is not None:
            number = int(match[1])
        yield number, match[2] if match is not None else line.strip()


def _user_statements(messages: str) -> Iterator[tuple[int, str, str]]:
    """Yield (message number, speaker, sentence) for each statement of a speaker other than the assistant."""
    speaker = ""
    last_number = 0
    for number, line in _lines(messages):
        match = _SPEAKER.match(line)
        if number != last_number:
            speaker, last_number = match[1] if match else "", number
        if speaker != "assistant":
            for sentence in statements(line):
                yield number, speaker, sentence


def _extract(request: ChatRequest) -> Facts:
    numbers = {sentence[:200]: number for number, _, sentence in _user_statements(request.fields["messages"])}
    return Facts(facts=[Fact(text=text, messages=[number]) for text, number in [*numbers.items()][:8]])


def _decide(request: ChatRequest) -> Decisions:
    """Return a decision per fact: update the first memory with its subject, keep an equal memory, or add the fact."""
    memories = dict(_lines(request.fields["memories"]))
    # Of memories with the same subject, the first is updated.
    number_of_subject = {subject(text): number for number, text in reversed(memories.items())}
    decisions = []
    for number, text in dict(_lines(request.fields["facts"])).items():
        old_number = number_of_subject.pop(subject(text), 0)
        is_known = old_number > 0 and memories[old_number] == text
        operation = "ADD"
        if old_number:
            operation = "NOOP" if is_known else "UPDATE"
        decisions.append(
            Decision(
                fact=number,
                operation=operation,
                memory=0 if is_known else old_number,
                replaces=operation == "UPDATE",
                text=text[:240] if operation == "UPDATE" else "",
            )
        )
    return Decisions(decisions=decisions)


def _summarise(request: ChatRequest) -> Summary:
    sentences = [sentence for _, _, sentence in _user_statements(request.fields["messages"])]
    return Summary(text="\n".join((request.fields["summary"], *sentences))[-1500:])


def _triplets(messages: str) -> list[tuple[int, str, str, str]]:
    """Return (message number, speaker, subject, last word) for the first four complete statements."""
    triplets = []
    for number, speaker, sentence in _user_statements(messages):
        source = speaker or "user"
        last_word = search_words(sentence)[-1][:60]
        if source.lower() != last_word:  # a relation joins two entities
            triplets.append((number, source, subject(sentence)[:60], last_word))
    return triplets[:4]


def _entities(request: ChatRequest) -> Entities:
    types: dict[str, str] = {}
    for _, source, label, target in _triplets(request.fields["messages"]):
        types.setdefault(source, "person")
        types.setdefault(target, label[:30])
    return Entities(entities=[Entity(name=name, type=type_) for name, type_ in types.items()])


def _relations(request: ChatRequest) -> Relations:
    """Return a relation for each complete statement whose two entities are in the list."""
    # A list of entities reads `1. Caroline (person)`.
    numbers = {text.rpartition(" (")[0]: number for number, text in _lines(request.fields["entities"])}
    return Relations(
        relations=[
            Relation(source=numbers[source], relation=label, target=numbers[target], messages=[number])
            for number, source, label, target in _triplets(request.fields["messages"])
            if source in numbers and target in numbers
        ]
    )


def _resolve(request: ChatRequest) -> Obsolete:
    """Return the numbers of the old relations that have the same source and label as a new relation."""
    keys = {text.rpartition(" -> ")[0] for _, text in _lines(request.fields["new"])}
    relations = _lines(request.fields["old"])
    return Obsolete(
        obsolete=[number for number, text in relations if text.rpartition(" -> ")[0] in keys][:10]
    )


def _identify(request: ChatRequest) -> Names:
    query = request.fields["query"]
    speakers = ["user"] if _SELF.search(query) else []
    return Names(names=[*speakers, *(word[:60] for word in search_words(query))][:5])


HANDLERS: dict[str, Handler] = {
    "mem0/extract": _extract,
    "mem0/decide": _decide,
    "mem0/summarise": _summarise,
    "mem0/entities": _entities,
    "mem0/relations": _relations,
    "mem0/resolve": _resolve,
    "mem0/identify": _identify,
}
