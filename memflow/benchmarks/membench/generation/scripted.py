"""Scripted simulator for MemBench's prompts, without a language model.

A message is the given plain sentence after a random opening. Sentences of dialogues are filled from sentence templates,
and other texts are chosen from short lists.
"""

from collections.abc import Iterator
from functools import cache

from memflow.benchmarks.membench.answers import (
    LINE,
    Messages,
    Round,
    Rounds,
    ToldMessage,
    ToldRound,
)
from memflow.benchmarks.membench.generation.templates import (
    fact_templates,
    fill_sentence,
    with_article,
)
from memflow.benchmarks.membench.generation.vocabulary import (
    PACKAGE,
    Language,
    bundled_vocabulary,
)
from memflow.benchmarks.models import StrictModel
from memflow.benchmarks.packaged import load_yaml
from memflow.benchmarks.scripted_reader import seeded_random
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler


class _Words(StrictModel):
    """The scripted simulator's words of a language. An opening or a note may be empty.

    `bare` has beginnings of sentences that take no opening, such as questions and replies. `session` has sentences
    without content, and `replies` fit any statement. `genders` has pronoun and possessive pronoun by gender.
    """

    openings: tuple[str, ...]
    notes: tuple[str, ...]
    """Openings of messages that address nobody."""
    bare: tuple[str, ...]
    murmurs: tuple[str, ...]
    genders: dict[str, tuple[str, str]]
    session: tuple[str, ...]
    replies: tuple[str, ...]


@cache
def _words_of(language: Language) -> _Words:
    return _Words.model_validate(load_yaml(PACKAGE, "sample/small_talk.yaml")[language])


def _language(request: ChatRequest) -> Language:
    return "zh" if request.prompt.endswith("_zh") else "en"


def _words(request: ChatRequest) -> _Words:
    return _words_of(_language(request))


def _rounds(request: ChatRequest) -> Rounds:
    """Return one round per fact that has a sentence template, then rounds without facts."""
    rng, words = seeded_random(request), _words(request)
    lines = request.fields.get("context", "").split("\n")
    facts = {name: value for line in lines for name, _, value in [line.removeprefix("- ").partition(": ")]}
    told = list(_fact_sentences(request.fields["topic"], facts, _language(request)))
    count = int(request.fields["rounds"])
    said = told[:count] + [rng.choice(words.session) for _ in range(count - len(told))]
    return Rounds(rounds=[Round(user=user[:LINE], assistant=rng.choice(words.replies)) for user in said])


def _fact_sentences(topic: str, facts: dict[str, str], language: Language) -> Iterator[str]:
    """Yield a sentence per fact; after the first sentence, a pronoun refers to a person."""
    labels, templates = bundled_vocabulary(language).labels, fact_templates(language)
    about = templates.people if labels["gender"] in facts else templates.events
    pronouns = _words_of(language).genders.get(facts.get(labels["gender"], ""))
    who = topic
    for attribute, template in about.attributes.items():
        value = facts.get(labels[attribute])
        if value is None:
            continue
        told = template.told
        if who != topic and pronouns is not None:
            told = told.replace("$who's", pronouns[1]).replace("$who的", pronouns[1])
        yield fill_sentence(told, who=who, value=value, a_value=with_article(value))
        who = pronouns[0] if pronouns is not None else topic


def _messages(request: ChatRequest) -> Messages:
    rng, words = seeded_random(request), _words(request)
    return Messages(messages=[rng.choice(words.session) for _ in range(int(request.fields["messages"]))])


def _told_round(request: ChatRequest) -> ToldRound:
    rng, words = seeded_random(request), _words(request)
    replied = request.fields.get("replied") or rng.choice(words.replies)
    return ToldRound(user=_open(rng.choice(words.openings), request), assistant=replied)


def _told_message(request: ChatRequest) -> ToldMessage:
    return ToldMessage(text=_open(seeded_random(request).choice(_words(request).notes), request))


def _open(opening: str, request: ChatRequest) -> str:
    """Return the sentence of a message, with the opening before it if the sentence states a fact about an entity.

    The first letter of the sentence becomes lower case if the sentence does not begin with a name.
    """
    said = request.fields["said"]
    if request.fields["keeps"] == "-" or said.startswith(_words(request).bare):
        return said
    first, _, rest = said.partition(" ")
    lowers = opening.endswith(", ") and first != "I" and rest[:1].islower()
    return f"{opening}{said[0].lower()}{said[1:]}" if lowers else f"{opening}{said}"


def _question(request: ChatRequest) -> ToldMessage:
    return ToldMessage(text=request.fields["question"])


def _murmur(request: ChatRequest) -> ToldMessage:
    return ToldMessage(text=seeded_random(request).choice(_words(request).murmurs))


BY_STEM: dict[str, Handler] = {
    "dialogue": _rounds,
    "aftertalk": _rounds,
    "aftertalk_alone": _messages,
    "told": _told_round,
    "told_both": _told_round,
    "told_alone": _told_message,
    "question": _question,
    "murmur": _murmur,
}
"""Handlers by the stem of the prompt."""
