"""Handlers of the scripted chat, which is no language model: simulator and assistant by simple rules.

The simulator makes states, messages and answers from the words below, varied by digest. The assistant reads
only what stands in its prompt (notes, history, what the oracle is told), and where that says nothing it
picks by digest, so at chance. How it reads is reading.py.
"""

import json
import random
from collections.abc import Callable, Sequence
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
    Utterance,
)
from memflow.benchmarks.amemgym.reading import best_options, in_words, latest_is, values_in
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.fingerprint import seeded

T = TypeVar("T")

_TOPICS = {
    "cooking": "What could I cook this week?",
    "running": "How should I plan my next runs?",
    "reading": "Which book should I take up next?",
    "gardening": "What should I do in the garden this month?",
    "travel": "Where could I go on my next trip?",
    "music": "How should I practise my instrument?",
    "language": "How do I get on with the language I am learning?",
    "photography": "What could I photograph next?",
    "sewing": "Which piece should I sew next?",
    "cycling": "Which route should I ride next?",
    "painting": "What could I paint next?",
    "hosting": "How should I set up the next evening with guests?",
}
_ASPECTS = {
    "company": ["alone", "one_close_friend", "my_whole_family", "a_club", "two_colleagues", "a_neighbour"],
    "budget": ["very_tight", "moderate", "generous", "shared_by_all", "paid_by_others", "saved_up"],
    "time": [
        "early_mornings",
        "lunch_breaks",
        "late_evenings",
        "whole_weekends",
        "school_holidays",
        "rainy_days",
    ],
    "level": [
        "first_steps",
        "some_practice",
        "long_experience",
        "nearly_expert",
        "starting_over",
        "teaching_others",
    ],
}
_OCCASIONS = [
    "a new rota at work",
    "a visit from relatives",
    "a move within the town",
    "a long cold",
    "a surprise gift",
]
_TOLD = [
    "These days my {variable} is {value}.",
    "With me, {value} it is now as to my {variable}.",
    "As for my {variable}, I have settled on {value}.",
]
_TOLD_AFTER = "My {variable} is no longer {old} but {value}."
_ASKED = [
    "What would you suggest?",
    "Have you an idea for me?",
    "Where would you begin?",
    "Can you help me plan?",
]
_NEXT = [
    "Thank you. Could you say a little more about the first step?",
    "That helps. What should I look out for?",
    "Good to know. How long would that take me?",
]
_REPLIES = [
    "Gladly. I would begin with something small and see how it goes.",
    "Here is a thought: choose one thing, try it twice, and then decide.",
    "Of course. Let us take it step by step, with the easiest part first.",
]


def _chance(request: ChatRequest) -> random.Random:
    """A source of variety that depends on the request, and on the model's seed where it has one."""
    said = [message.content for message in request.messages]
    seed = request.sampling.seed
    return random.Random(seeded(request.prompt, said) if seed is None else seeded(request.prompt, said, seed))


def _json(request: ChatRequest, field: str) -> Any:
    return json.loads(request.fields[field])


def _questions(request: ChatRequest) -> DraftQuestions:
    chance = _chance(request)
    count, width, values = (int(request.fields[name]) for name in ("questions", "variables", "values"))
    topics = chance.sample([*_TOPICS], min(count, len(_TOPICS)))
    topics += [f"project {number}" for number in range(1, 1 + count - len(topics))]
    drafts = []
    for topic in topics:
        variables = [
            DraftVariable(
                name=f"{topic.replace(' ', '_')}_{aspect}", values=chance.sample(_ASPECTS[aspect], values)
            )
            for aspect in chance.sample([*_ASPECTS], width)
        ]
        question = _TOPICS.get(topic, f"How should I go on with my {topic}?")
        drafts.append(DraftQuestion(question=question, variables=variables))
    return DraftQuestions(questions=drafts)


def _initial_state(request: ChatRequest) -> str:
    chance = _chance(request)
    return json.dumps({name: chance.choice(values) for name, values in _json(request, "schema").items()})


def _updates(request: ChatRequest) -> str:
    chance = _chance(request)
    movable = _json(request, "schema")
    moving = chance.sample([*movable], min(int(request.fields["changes"]), len(movable)))
    return json.dumps({name: chance.choice(movable[name]) if name in moving else None for name in movable})


def _events(request: ChatRequest) -> Groups:
    chance = _chance(request)
    changes = _json(request, "changes")

    def event(names: Sequence[str]) -> str:
        moves = "; ".join(f"{in_words(name)}: {in_words(changes[name]['to'])}" for name in names)
        return f"After {chance.choice(_OCCASIONS)} some things are different, {moves}."

    return Groups(
        groups=[Group(variables=names, text=event(names)) for names in _split(chance, [*changes], 2)]
    )


def _opening(request: ChatRequest) -> Groups:
    chance = _chance(request)
    state = _json(request, "state")

    def text(names: Sequence[str]) -> str:
        told = [_told(chance.choice(_TOLD), name, state[name]) for name in names]
        return " ".join([*told, chance.choice(_ASKED)])

    return Groups(groups=[Group(variables=names, text=text(names)) for names in _split(chance, [*state], 3)])


def _utterance(request: ChatRequest) -> Utterance:
    chance = _chance(request)
    told = [
        _told(chance.choice([*_TOLD, _TOLD_AFTER]), name, move["to"], move["from"])
        for name, move in _json(request, "changes").items()
    ]
    return Utterance(text=" ".join([*told, chance.choice(_ASKED)]))


def _exposure(request: ChatRequest) -> str:
    return json.dumps(values_in(request.fields["text"], _json(request, "schema")))


def _utterance_again(request: ChatRequest) -> Utterance:
    meant = _json(request, "meant")
    return Utterance(text=" ".join(_told(_TOLD[0], name, value) for name, value in meant.items()))


def _answers(request: ChatRequest) -> AnswerTexts:
    variants = [json.loads(line.partition(": ")[2]) for line in request.fields["variants"].split("\n")]
    return AnswerTexts(answers=[_advice(variant) for variant in variants])


def _answer_again(request: ChatRequest) -> AnswerText:
    return AnswerText(answer=_advice(_json(request, "meant")))


def _recover(request: ChatRequest) -> ChoiceAnswer:
    variants = [json.loads(line.partition(": ")[2]) for line in request.fields["variants"].split("\n")]
    best = best_options(request.fields["answer"], [_advice(variant) for variant in variants])
    return ChoiceAnswer(answer=1 + best[0])


def _choice(request: ChatRequest) -> ChoiceAnswer:
    options = [line.partition(": ")[2] for line in request.fields["options"].split("\n")]
    return ChoiceAnswer(answer=1 + _chance(request).choice(best_options(_seen(request), options)))


def _state(request: ChatRequest) -> str:
    chance = _chance(request)
    schema = _json(request, "schema")
    read = values_in(_seen(request), schema)
    return json.dumps({name: read[name] or chance.choice(values) for name, values in schema.items()})


def _claims(request: ChatRequest) -> Findings:
    claims = [line.partition(": ")[2] for line in request.fields["claims"].split("\n")]
    named = [claim.partition(": ")[::2] for claim in claims]
    held = request.fields["held"]
    return Findings(supported=["yes" if latest_is(held, name, value) else "no" for name, value in named])


def _seen(request: ChatRequest) -> str:
    """What the assistant knows of the user: notes and history before the question, and what the oracle is
    told."""
    before = [message.content for message in request.messages[:-1]]
    return "\n".join([*before, request.fields.get("told", "")])


def _one_of(texts: Sequence[str]) -> Callable[[ChatRequest], str]:
    return lambda request: _chance(request).choice(texts)


def _told(pattern: str, name: str, value: str, old: str = "") -> str:
    return pattern.format(variable=in_words(name), value=in_words(value), old=in_words(old))


def _advice(variant: dict[str, str]) -> str:
    circumstances = " and ".join(
        f"your {in_words(name)} is {in_words(value)}" for name, value in variant.items()
    )
    return f"Since {circumstances}, choose what suits just that and leave the rest for later."


def _split(chance: random.Random, names: list[T], most: int) -> list[list[T]]:
    """`names` in an order of chance, in groups of one to `most`."""
    left, groups = chance.sample(names, len(names)), []
    while left:
        size = chance.randint(1, most)
        groups.append(left[:size])
        left = left[size:]
    return groups


_BY_STEM: dict[str, Handler] = {
    "questions": _questions,
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
    "follow_up": _one_of(_NEXT),
    "reply": _one_of(_REPLIES),
    "reply_with_notes": _one_of(_REPLIES),
    "choice": _choice,
    "choice_with_notes": _choice,
    "choice_told": _choice,
    "state": _state,
    "state_with_notes": _state,
    "state_told": _state,
    "claims": _claims,
}

HANDLERS = {f"amemgym/{stem}": handler for stem, handler in _BY_STEM.items()}
