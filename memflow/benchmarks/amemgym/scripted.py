"""Handlers of the scripted chat for AMemGym's prompts: a rule-based simulator and assistant without a language model.

The simulator writes texts from scripted_words.py and selects among them by digest. The assistant reads only its prompt
(scripted_reading.py) and guesses by digest if the prompt contains no answer.
"""

import json
import random
import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any, TypeVar

from memflow.benchmarks.amemgym.answers import (
    AnswerText,
    AnswerTexts,
    ChoiceAnswer,
    DraftQuestion,
    DraftQuestions,
    DraftVariable,
    Findings,
    Group,
    Groups,
    Portrait,
    Utterance,
)
from memflow.benchmarks.amemgym.scripted_reading import (
    best_options,
    in_words,
    latest_statement_is,
    stated_values,
)
from memflow.benchmarks.amemgym.scripted_words import ScriptVocabulary, vocabulary_of
from memflow.benchmarks.amemgym.wording import bilingual_prompts
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.fingerprint import seeded

T = TypeVar("T")
_NAME = re.compile(r"[A-Z][\w'’-]+ [A-Z][\w'’-]+")
SHORT = 10
"""Largest number of variables in which `_refine` merges nothing."""
LONGEST = 600
"""Maximum length of a scripted summary, in characters."""


def _chance(request: ChatRequest) -> random.Random:
    """Return a random generator whose seed is derived from the request and the model's seed."""
    said = [message.content for message in request.messages]
    seed = request.sampling.seed
    return random.Random(seeded(request.prompt, said) if seed is None else seeded(request.prompt, said, seed))


def _json(request: ChatRequest, field: str) -> Any:
    return json.loads(request.fields[field])


def _portrait(request: ChatRequest) -> Portrait:
    told = request.fields["told"] or request.fields["basics"]
    name = _NAME.search(told)
    about = " ".join(told.split())[:LONGEST]
    return Portrait(
        name=name[0] if name else _chance(request).choice(vocabulary_of(request).names), about=about
    )


def _questions(request: ChatRequest) -> DraftQuestions:
    chance, vocabulary = _chance(request), vocabulary_of(request)
    count, width, values = (int(request.fields[name]) for name in ("questions", "variables", "values"))
    topics = chance.sample([*vocabulary.topics], min(count, len(vocabulary.topics)))
    topics += [vocabulary.further.format(number=number) for number in range(1, 1 + count - len(topics))]
    drafts = []
    for topic in topics:
        variables = [
            DraftVariable(
                name=vocabulary.name.format(topic=topic.replace(" ", "_"), aspect=aspect),
                values=chance.sample(vocabulary.aspects[aspect], values),
            )
            for aspect in chance.sample([*vocabulary.aspects], width)
        ]
        question = vocabulary.topics.get(topic, vocabulary.further_question.format(topic=topic))
        drafts.append(DraftQuestion(question=question, variables=variables))
    return DraftQuestions(questions=drafts)


def _refine(request: ChatRequest) -> str:
    """Return the new name of each variable as JSON. One pair of similar variables is merged if the list is long."""
    names = request.fields["names"].split("\n")
    joined = (
        _mergeable_variables(vocabulary_of(request), _json(request, "questions"))
        if len(names) > SHORT
        else {}
    )
    return json.dumps({name: joined.get(name, name) for name in names}, ensure_ascii=False)


def _mergeable_variables(
    vocabulary: ScriptVocabulary, questions: dict[str, dict[str, list[str]]]
) -> dict[str, str]:
    """Return a common name for the first two variables of different questions that can be merged, keyed by old name."""
    variables = [(at, *each) for at, needed in enumerate(questions.values()) for each in needed.items()]
    for (at, one, values), (other_at, other, others) in combinations(variables, 2):
        aspect = next(
            (each for each in vocabulary.aspects if one.endswith(each) and other.endswith(each)), None
        )
        if aspect is None or at == other_at or len({*values, *others}) > len(values) + 1:
            continue
        topics = [name.removesuffix(aspect).removesuffix("_") for name in (one, other)]
        both = vocabulary.both.format(one=topics[0], other=topics[1])
        return dict.fromkeys((one, other), vocabulary.name.format(topic=both, aspect=aspect))
    return {}


def _unify(request: ChatRequest) -> str:
    count = int(request.fields["values"])
    merged = {
        name: list(dict.fromkeys(value for values in uses.values() for value in values))[:count]
        for name, uses in _json(request, "merged").items()
    }
    return json.dumps(merged, ensure_ascii=False)


def _initial_state(request: ChatRequest) -> str:
    chance = _chance(request)
    return json.dumps({name: chance.choice(values) for name, values in _json(request, "schema").items()})


def _updates(request: ChatRequest) -> str:
    chance = _chance(request)
    movable = _json(request, "schema")
    moving = chance.sample([*movable], min(int(request.fields["changes"]), len(movable)))
    moves = [{"variable": name, "value": chance.choice(movable[name])} for name in movable if name in moving]
    vocabulary = vocabulary_of(request)
    summary = vocabulary.summary.format(occasion=chance.choice(vocabulary.occasions))
    return json.dumps({"summary": summary, "moves": moves}, ensure_ascii=False)


def _events(request: ChatRequest) -> Groups:
    chance, vocabulary = _chance(request), vocabulary_of(request)
    changes = _json(request, "changes")

    def event(names: Sequence[str]) -> str:
        moves = vocabulary.moves.join(
            _statement(vocabulary.move, name, changes[name]["to"]) for name in names
        )
        return vocabulary.event.format(occasion=chance.choice(vocabulary.occasions), moves=moves)

    return Groups(
        groups=[Group(variables=names, text=event(names)) for names in _split(chance, [*changes], 2)]
    )


def _opening(request: ChatRequest) -> Groups:
    chance, vocabulary = _chance(request), vocabulary_of(request)
    state = _json(request, "state")

    def text(names: Sequence[str]) -> str:
        told = [_statement(chance.choice(vocabulary.told), name, state[name]) for name in names]
        return vocabulary.space.join([*told, chance.choice(vocabulary.asked)])

    return Groups(groups=[Group(variables=names, text=text(names)) for names in _split(chance, [*state], 3)])


def _utterance(request: ChatRequest) -> Utterance:
    chance, vocabulary = _chance(request), vocabulary_of(request)
    told = [
        _statement(chance.choice([*vocabulary.told, vocabulary.told_after]), name, move["to"], move["from"])
        for name, move in _json(request, "changes").items()
    ]
    return Utterance(text=vocabulary.space.join([*told, chance.choice(vocabulary.asked)]))


def _exposure(request: ChatRequest) -> str:
    return json.dumps(stated_values(request.fields["text"], _json(request, "schema")))


def _utterance_again(request: ChatRequest) -> Utterance:
    vocabulary, meant = vocabulary_of(request), _json(request, "meant")
    return Utterance(
        text=vocabulary.space.join(_statement(vocabulary.told[0], *pair) for pair in meant.items())
    )


def _answers(request: ChatRequest) -> AnswerTexts:
    variants = [json.loads(line.partition(": ")[2]) for line in request.fields["variants"].split("\n")]
    return AnswerTexts(answers=[_advice(vocabulary_of(request), variant) for variant in variants])


def _answer_again(request: ChatRequest) -> AnswerText:
    return AnswerText(answer=_advice(vocabulary_of(request), _json(request, "meant")))


def _recover(request: ChatRequest) -> ChoiceAnswer:
    variants = [json.loads(line.partition(": ")[2]) for line in request.fields["variants"].split("\n")]
    best = best_options(
        request.fields["answer"], [_advice(vocabulary_of(request), variant) for variant in variants]
    )
    return ChoiceAnswer(answer=1 + best[0])


def _choice(request: ChatRequest) -> ChoiceAnswer:
    options = [line.partition(": ")[2] for line in request.fields["options"].split("\n")]
    best = best_options(_seen(request), options)
    return ChoiceAnswer(answer=1 + (best[0] if len(best) == 1 else _chance(request).choice(best)))


def _state(request: ChatRequest) -> str:
    schema = _json(request, "schema")
    read = stated_values(_seen(request), schema)
    if not all(read.values()):
        chance = _chance(request)
        read = {name: read[name] or chance.choice(values) for name, values in schema.items()}
    return json.dumps(read)


def _claims(request: ChatRequest) -> Findings:
    claims = [line.partition(": ")[2] for line in request.fields["claims"].split("\n")]
    named = [claim.partition(": ")[::2] for claim in claims]
    held = request.fields["held"]
    return Findings(
        supported=["yes" if latest_statement_is(held, name, value) else "no" for name, value in named]
    )


def _seen(request: ChatRequest) -> str:
    """Return the text about the user that the assistant sees: notes, history, and the gold context."""
    before = [message.content for message in request.messages[:-1]]
    return "\n".join([*before, request.fields.get("told", "")])


def _next(request: ChatRequest) -> str:
    return _chance(request).choice(vocabulary_of(request).next)


def _reply(request: ChatRequest) -> str:
    return _chance(request).choice(vocabulary_of(request).replies)


def _statement(pattern: str, name: str, value: str, old: str = "") -> str:
    return pattern.format(variable=in_words(name), value=in_words(value), old=in_words(old))


def _advice(vocabulary: ScriptVocabulary, variant: dict[str, str]) -> str:
    told = vocabulary.circumstances.join(
        _statement(vocabulary.circumstance, *pair) for pair in variant.items()
    )
    return vocabulary.advice.format(circumstances=told)


def _split(chance: random.Random, names: list[T], most: int) -> list[list[T]]:
    """Return `names` in random order, split into groups of 1 to `most` names."""
    left, groups = chance.sample(names, len(names)), []
    while left:
        size = chance.randint(1, most)
        groups.append(left[:size])
        left = left[size:]
    return groups


_BY_STEM: dict[str, Handler] = {
    "portrait": _portrait,
    "questions": _questions,
    "refine": _refine,
    "unify": _unify,
    "initial_state": _initial_state,
    "updates": _updates,
    "events": _events,
    "opening": _opening,
    "utterance": _utterance,
    "exposure": _exposure,
    "utterance_again": _utterance_again,
    "answers": _answers,
    "recover": _recover,
    "answer_again": _answer_again,
    "follow_up": _next,
    "follow_up_published": _next,
    "reply": _reply,
    "reply_with_notes": _reply,
    "choice": _choice,
    "choice_with_notes": _choice,
    "choice_told": _choice,
    "state": _state,
    "state_with_notes": _state,
    "state_told": _state,
    "claims": _claims,
}

HANDLERS = {f"amemgym/{stem}": handler for stem, handler in _BY_STEM.items()}
HANDLERS |= {
    f"amemgym/{stem}_zh": handler for stem, handler in _BY_STEM.items() if stem in bilingual_prompts()
}
