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


def _rng(request: ChatRequest) -> random.Random:
    """Return a random generator whose seed is derived from the request and the model's seed."""
    contents = [message.content for message in request.messages]
    seed = request.sampling.seed
    return random.Random(
        seeded(request.prompt, contents) if seed is None else seeded(request.prompt, contents, seed)
    )


def _json(request: ChatRequest, field: str) -> Any:
    return json.loads(request.fields[field])


def _portrait(request: ChatRequest) -> Portrait:
    description = request.fields["told"] or request.fields["basics"]
    name = _NAME.search(description)
    about = " ".join(description.split())[:LONGEST]
    return Portrait(name=name[0] if name else _rng(request).choice(vocabulary_of(request).names), about=about)


def _questions(request: ChatRequest) -> DraftQuestions:
    rng, vocabulary = _rng(request), vocabulary_of(request)
    count, width, size = (int(request.fields[name]) for name in ("questions", "variables", "values"))
    topics = rng.sample([*vocabulary.topics], min(count, len(vocabulary.topics)))
    topics += [vocabulary.further.format(number=number) for number in range(1, 1 + count - len(topics))]
    drafts = []
    for topic in topics:
        variables = [
            DraftVariable(
                name=vocabulary.name.format(topic=topic.replace(" ", "_"), aspect=aspect),
                values=rng.sample(vocabulary.aspects[aspect], size),
            )
            for aspect in rng.sample([*vocabulary.aspects], width)
        ]
        question = vocabulary.topics.get(topic, vocabulary.further_question.format(topic=topic))
        drafts.append(DraftQuestion(question=question, variables=variables))
    return DraftQuestions(questions=drafts)


def _refine(request: ChatRequest) -> str:
    """Return the new name of each variable as JSON. One pair of similar variables is merged if the list is long."""
    names = request.fields["names"].split("\n")
    merged_names = (
        _mergeable_variables(vocabulary_of(request), _json(request, "questions"))
        if len(names) > SHORT
        else {}
    )
    return json.dumps({name: merged_names.get(name, name) for name in names}, ensure_ascii=False)


def _mergeable_variables(
    vocabulary: ScriptVocabulary, questions: dict[str, dict[str, list[str]]]
) -> dict[str, str]:
    """Return a common name for the first two variables of different questions that can be merged, keyed by old name."""
    variables = [
        (index, *item) for index, question in enumerate(questions.values()) for item in question.items()
    ]
    for (index, first, values), (other_index, second, other_values) in combinations(variables, 2):
        aspect = next(
            (suffix for suffix in vocabulary.aspects if first.endswith(suffix) and second.endswith(suffix)),
            None,
        )
        if aspect is None or index == other_index or len({*values, *other_values}) > len(values) + 1:
            continue
        topics = [variable_name.removesuffix(aspect).removesuffix("_") for variable_name in (first, second)]
        merged_topic = vocabulary.both.format(one=topics[0], other=topics[1])
        return dict.fromkeys((first, second), vocabulary.name.format(topic=merged_topic, aspect=aspect))
    return {}


def _unify(request: ChatRequest) -> str:
    value_count = int(request.fields["values"])
    merged = {
        name: list(dict.fromkeys(value for values in uses.values() for value in values))[:value_count]
        for name, uses in _json(request, "merged").items()
    }
    return json.dumps(merged, ensure_ascii=False)


def _initial_state(request: ChatRequest) -> str:
    rng = _rng(request)
    return json.dumps({name: rng.choice(values) for name, values in _json(request, "schema").items()})


def _updates(request: ChatRequest) -> str:
    rng = _rng(request)
    choices = _json(request, "schema")
    selected = rng.sample([*choices], min(int(request.fields["changes"]), len(choices)))
    moves = [{"variable": name, "value": rng.choice(choices[name])} for name in choices if name in selected]
    vocabulary = vocabulary_of(request)
    summary = vocabulary.summary.format(occasion=rng.choice(vocabulary.occasions))
    return json.dumps({"summary": summary, "moves": moves}, ensure_ascii=False)


def _events(request: ChatRequest) -> Groups:
    rng, vocabulary = _rng(request), vocabulary_of(request)
    changes = _json(request, "changes")

    def event(names: Sequence[str]) -> str:
        moves = vocabulary.moves.join(
            _statement(vocabulary.move, name, changes[name]["to"]) for name in names
        )
        return vocabulary.event.format(occasion=rng.choice(vocabulary.occasions), moves=moves)

    return Groups(groups=[Group(variables=names, text=event(names)) for names in _split(rng, [*changes], 2)])


def _opening(request: ChatRequest) -> Groups:
    rng, vocabulary = _rng(request), vocabulary_of(request)
    state = _json(request, "state")

    def text(names: Sequence[str]) -> str:
        statements = [_statement(rng.choice(vocabulary.told), name, state[name]) for name in names]
        return vocabulary.space.join([*statements, rng.choice(vocabulary.asked)])

    return Groups(groups=[Group(variables=names, text=text(names)) for names in _split(rng, [*state], 3)])


def _utterance(request: ChatRequest) -> Utterance:
    rng, vocabulary = _rng(request), vocabulary_of(request)
    statements = [
        _statement(rng.choice([*vocabulary.told, vocabulary.told_after]), name, move["to"], move["from"])
        for name, move in _json(request, "changes").items()
    ]
    return Utterance(text=vocabulary.space.join([*statements, rng.choice(vocabulary.asked)]))


def _exposure(request: ChatRequest) -> str:
    return json.dumps(stated_values(request.fields["text"], _json(request, "schema")))


def _utterance_again(request: ChatRequest) -> Utterance:
    vocabulary, values = vocabulary_of(request), _json(request, "meant")
    return Utterance(
        text=vocabulary.space.join(_statement(vocabulary.told[0], *pair) for pair in values.items())
    )


def _answers(request: ChatRequest) -> AnswerTexts:
    variants = [json.loads(line.partition(": ")[2]) for line in request.fields["variants"].split("\n")]
    return AnswerTexts(answers=[_advice(vocabulary_of(request), variant) for variant in variants])


def _answer_again(request: ChatRequest) -> AnswerText:
    return AnswerText(answer=_advice(vocabulary_of(request), _json(request, "meant")))


def _recover(request: ChatRequest) -> ChoiceAnswer:
    variants = [json.loads(line.partition(": ")[2]) for line in request.fields["variants"].split("\n")]
    matches = best_options(
        request.fields["answer"], [_advice(vocabulary_of(request), variant) for variant in variants]
    )
    return ChoiceAnswer(answer=1 + matches[0])


def _choice(request: ChatRequest) -> ChoiceAnswer:
    options = [line.partition(": ")[2] for line in request.fields["options"].split("\n")]
    matches = best_options(_visible_text(request), options)
    return ChoiceAnswer(answer=1 + (matches[0] if len(matches) == 1 else _rng(request).choice(matches)))


def _state(request: ChatRequest) -> str:
    schema = _json(request, "schema")
    values = stated_values(_visible_text(request), schema)
    if not all(values.values()):
        rng = _rng(request)
        values = {name: values[name] or rng.choice(choices) for name, choices in schema.items()}
    return json.dumps(values)


def _claims(request: ChatRequest) -> Findings:
    claims = [line.partition(": ")[2] for line in request.fields["claims"].split("\n")]
    pairs = [claim.partition(": ")[::2] for claim in claims]
    memory = request.fields["held"]
    return Findings(
        supported=["yes" if latest_statement_is(memory, name, value) else "no" for name, value in pairs]
    )


def _visible_text(request: ChatRequest) -> str:
    """Return the text about the user that the assistant sees: notes, history, and the gold context."""
    earlier_messages = [message.content for message in request.messages[:-1]]
    return "\n".join([*earlier_messages, request.fields.get("told", "")])


def _next(request: ChatRequest) -> str:
    return _rng(request).choice(vocabulary_of(request).next)


def _reply(request: ChatRequest) -> str:
    return _rng(request).choice(vocabulary_of(request).replies)


def _statement(pattern: str, name: str, value: str, old: str = "") -> str:
    return pattern.format(variable=in_words(name), value=in_words(value), old=in_words(old))


def _advice(vocabulary: ScriptVocabulary, variant: dict[str, str]) -> str:
    circumstances = vocabulary.circumstances.join(
        _statement(vocabulary.circumstance, *pair) for pair in variant.items()
    )
    return vocabulary.advice.format(circumstances=circumstances)


def _split(rng: random.Random, names: list[T], max_size: int) -> list[list[T]]:
    """Return `names` in random order, split into groups of 1 to `max_size` names."""
    remaining, groups = rng.sample(names, len(names)), []
    while remaining:
        size = rng.randint(1, max_size)
        groups.append(remaining[:size])
        remaining = remaining[size:]
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
