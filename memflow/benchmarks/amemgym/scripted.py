"""Handlers of the scripted chat for AMemGym's prompts: a rule-based simulator and assistant without a language model.

The simulator writes texts from scripted_words.py and selects among them by digest. The assistant reads only its prompt
(scripted_reading.py) and guesses by digest if the prompt contains no answer.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

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
    latest_statement_is,
    stated_values,
    statements,
)
from memflow.benchmarks.amemgym.scripted_words import in_words, vocabularies, vocabulary_of
from memflow.benchmarks.amemgym.wording import PACKAGE
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import scripted_handlers
from memflow.fingerprint import seeded

_NAME = re.compile(r"[A-Z][\w'’-]+ [A-Z][\w'’-]+")
TOGETHER = 0.4
"""Share of messages with two values of a topic."""
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
    """Return questions on random topics of the vocabulary, then on numbered further topics."""
    rng, vocabulary = _rng(request), vocabulary_of(request)
    question_count = int(request.fields["questions"])
    variable_count = int(request.fields["variables"])
    value_count = int(request.fields["values"])
    topics = rng.sample([*vocabulary.topics], min(question_count, len(vocabulary.topics)))
    missing_count = question_count - len(topics)
    topics += [vocabulary.further.format(number=number) for number in range(1, missing_count + 1)]
    drafts = []
    for topic in topics:
        variables = [
            DraftVariable(name=name, values=rng.sample(values, value_count))
            for name, values in vocabulary.variables(topic, variable_count, value_count).items()
        ]
        words = vocabulary.topics.get(topic, {})
        question = words.get("question") or vocabulary.further_question.format(topic=topic)
        drafts.append(DraftQuestion(question=question, variables=variables))
    return DraftQuestions(questions=drafts)


def _refine(request: ChatRequest) -> str:
    """Return the new name of each variable as JSON. Names of a shared variable are merged if there are several."""
    names = request.fields["names"].split("\n")
    canonical = {name: vocabulary_of(request).canonical(name) for name in names}
    counts = Counter(canonical.values())
    renames = {name: new if counts[new] > 1 else name for name, new in canonical.items()}
    return json.dumps(renames, ensure_ascii=False)


def _unify(request: ChatRequest) -> str:
    value_count = int(request.fields["values"])
    values_by_name = {}
    for name, values_by_question in _json(request, "merged").items():
        distinct_values = dict.fromkeys(chain.from_iterable(values_by_question.values()))
        values_by_name[name] = list(distinct_values)[:value_count]
    return json.dumps(values_by_name, ensure_ascii=False)


def _initial_state(request: ChatRequest) -> str:
    rng = _rng(request)
    return json.dumps({name: rng.choice(values) for name, values in _json(request, "schema").items()})


def _updates(request: ChatRequest) -> str:
    """Return a new random value for as many random variables as the request asks for, as JSON."""
    rng = _rng(request)
    choices = _json(request, "schema")
    names = rng.sample([*choices], min(int(request.fields["changes"]), len(choices)))
    moves = [{"variable": name, "value": rng.choice(choices[name])} for name in choices if name in names]
    return json.dumps(
        {"summary": rng.choice(vocabulary_of(request).occasions), "moves": moves}, ensure_ascii=False
    )


def _events(request: ChatRequest) -> Groups:
    """Return a life event for each group of changed variables, on a random occasion."""
    rng, vocabulary = _rng(request), vocabulary_of(request)

    def event(names: Sequence[str]) -> str:
        names_text = vocabulary.comma.join(map(in_words, names))
        return vocabulary.event.format(occasion=rng.choice(vocabulary.occasions), names=names_text)

    groups = _topic_groups(request, [*_json(request, "changes")])
    return Groups(groups=[Group(variables=names, text=event(names)) for names in groups])


def _opening(request: ChatRequest) -> Groups:
    state, rng = _json(request, "state"), _rng(request)
    groups = []
    for names in _topic_groups(request, [*state]):
        text = _message(request, rng, {name: state[name] for name in names}, "told")
        groups.append(Group(variables=names, text=text))
    return Groups(groups=groups)


def _utterance(request: ChatRequest) -> Utterance:
    state = {name: move["to"] for name, move in _json(request, "changes").items()}
    return Utterance(text=_message(request, _rng(request), state, "news"))


def _message(request: ChatRequest, rng: random.Random, state: Mapping[str, str], kind: str) -> str:
    """Return a message that states the values and, set apart, asks about their topic.

    The question depends on the first variable and on the quarter of the year, so a user rarely repeats one.
    """
    vocabulary, variable = vocabulary_of(request), next(iter(state))
    text = vocabulary.joined([rng.choice(getattr(vocabulary.texts(*item), kind)) for item in state.items()])
    topic = vocabulary.topic_of(variable)
    words = vocabulary.topics.get(topic)
    if words is None:
        return vocabulary.space.join([text, vocabulary.asked])
    name, names, exchanges = vocabulary.canonical(variable), [*words["variables"]], words["exchanges"]
    year, month, _ = map(int, request.fields["date"].split("-"))
    number = (12 * year + month) // 3 * len(names) + [*names, name].index(name)
    order = random.Random(seeded(request.fields["profile"], topic)).sample(exchanges, len(exchanges))
    ask, aside = order[number % len(order)][0], vocabulary.within_sentence(text)
    return rng.choice(vocabulary.frames[kind]).format(told=text, aside=aside, ask=ask)


def _topic_groups(request: ChatRequest, names: Sequence[str]) -> list[list[str]]:
    """Return the variables in random order, in groups: two of a topic are together or apart."""
    rng, vocabulary = _rng(request), vocabulary_of(request)
    groups: list[list[str]] = []
    for name in rng.sample(names, len(names)):
        topic = vocabulary.topic_of(name)
        partner = next(
            (group for group in groups if len(group) == 1 and vocabulary.topic_of(group[0]) == topic), None
        )
        if partner is not None and rng.random() < TOGETHER:
            partner.append(name)
        else:
            groups.append([name])
    return groups


def _exposure(request: ChatRequest) -> str:
    return json.dumps(stated_values(request.fields["text"], _json(request, "schema")))


def _utterance_again(request: ChatRequest) -> Utterance:
    vocabulary = vocabulary_of(request)
    texts = [vocabulary.texts(name, value).told[0] for name, value in _json(request, "meant").items()]
    return Utterance(text=vocabulary.joined(texts))


def _answers(request: ChatRequest) -> AnswerTexts:
    advice = vocabulary_of(request).advice_for
    return AnswerTexts(
        answers=[advice(request.fields["question"], variant) for variant in _variants(request)]
    )


def _answer_again(request: ChatRequest) -> AnswerText:
    advice = vocabulary_of(request).advice_for(request.fields["question"], _json(request, "meant"))
    return AnswerText(answer=advice)


def _recover(request: ChatRequest) -> ChoiceAnswer:
    advised_values = set(statements(request.fields["answer"]).values())
    counts = [len(advised_values & set(map(in_words, variant.values()))) for variant in _variants(request)]
    return ChoiceAnswer(answer=1 + counts.index(max(counts)))


def _variants(request: ChatRequest) -> list[dict[str, str]]:
    return [json.loads(line.partition(": ")[2]) for line in request.fields["variants"].split("\n")]


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
    """Return whether the memory supports each claim, given as the lines `1: variable: value`."""
    memory = request.fields["held"]
    supported: list[Any] = []
    for line in request.fields["claims"].split("\n"):
        _, variable, value = line.split(": ", 2)
        supported.append("yes" if latest_statement_is(memory, variable, value) else "no")
    return Findings(supported=supported)


def _visible_text(request: ChatRequest) -> str:
    """Return the text about the user that the assistant sees: notes, history, and the gold context."""
    earlier_messages = [message.content for message in request.messages[:-1]]
    return "\n".join([*earlier_messages, request.fields.get("told", "")])


def _next(request: ChatRequest) -> str:
    """Return the question that follows on the first message's question, then the other exchanges of its topic."""
    query, context = request.fields["query"], request.fields["context"]
    for words in vocabulary_of(request).topics.values():
        for number, exchange in enumerate(words["exchanges"]):
            if exchange[0] in query:
                exchanges = [*words["exchanges"][number:], *words["exchanges"][:number]]
                _, *questions = [text for texts in exchanges for text in texts[::2]]
                asked_indexes = [index for index, question in enumerate(questions) if question in context]
                next_index = asked_indexes[-1] + 1 if asked_indexes else 0
                return questions[next_index % len(questions)]
    return vocabulary_of(request).asked


def _reply(request: ChatRequest) -> str:
    message = request.fields["message"]
    exchanges = (item for vocabulary in vocabularies().values() for item in vocabulary.exchanges.items())
    replies = [reply for question, reply in exchanges if question in message]
    return replies[0] if replies else _rng(request).choice(vocabulary_of(request).replies)


HANDLERS = scripted_handlers(
    PACKAGE,
    {
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
        **dict.fromkeys(("follow_up", "follow_up_published"), _next),
        **dict.fromkeys(("reply", "reply_with_notes"), _reply),
        **dict.fromkeys(("choice", "choice_with_notes", "choice_told"), _choice),
        **dict.fromkeys(("state", "state_with_notes", "state_told"), _state),
        "claims": _claims,
    },
)
