"""Turns to episodes, and how an assistant is asked: its replies while it is played, and the probes.

Every session is one event, and on-policy: the assistant replies, and the simulator, playing the user, goes
on from there (paper, section 3.2). The user knows the present states and is told not to reveal more of
them.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from memflow.benchmarks.amemgym.answers import ChoiceAnswer, Values, choice_of, values_of
from memflow.benchmarks.amemgym.states import History, histories
from memflow.benchmarks.amemgym.wording import numbered, prompt, written
from memflow.benchmarks.benchmark import Question, States
from memflow.chat.asking import Answer, ask
from memflow.chat.requests import Chat
from memflow.memories.memory import Message, Recall
from memflow.play import Episode, Event, FollowUp, Replier
from memflow.records import Probe, Turn

RECENT = 2
"""How many messages of a session the simulator sees besides the first, as published."""


def make_episodes(
    states: States, turns: Sequence[Turn], simulator: Chat, language: str = "en"
) -> list[Episode]:
    """One episode per user that is not quarantined; turns with a reason are not played."""
    found = []
    for user_id, life in histories(states).items():
        mine = sorted((turn for turn in turns if turn.episode_id == user_id), key=lambda turn: turn.event)
        events = tuple(_event(life, turn, simulator, language) for turn in mine if turn.reason is None)
        found.append(Episode(user_id, events))
    return found


def _event(life: History, turn: Turn, simulator: Chat, language: str) -> Event:
    role = cast(Literal["user", "assistant"], turn.role)
    message = Message(turn.message_id, role, turn.text, turn.speaker, turn.sent_at)
    follow_up = _follow_up(life, turn, simulator, language) if turn.follow_ups else None
    return Event(turn.event, turn.checkpoint, "exchange", (message,), turn.follow_ups, follow_up)


def _follow_up(life: History, turn: Turn, simulator: Chat, language: str) -> FollowUp:
    fixed = {
        "profile": life.profile.profile,
        "start": life.profile.start_date,
        "date": life.end(turn.checkpoint),
        "state": written(life.periods[turn.checkpoint]),
        "schema": written(life.schema),
        "query": turn.text,
    }

    async def follow_up(said: Sequence[Message]) -> Answer[str]:
        recent = "\n".join(f"{message.role}: {message.text}" for message in said[-RECENT:])
        return await ask(simulator, prompt("follow_up", language=language), {**fixed, "recent": recent})

    return follow_up


def make_replier(chat: Chat, language: str = "en") -> Replier:
    """Replies with what was recalled: notes in a system message of their own, verbatim turns as history."""

    def fields(recall: Recall, message: Message) -> Mapping[str, Any]:
        return {"message": message.text, **({"notes": recall.notes} if recall.notes else {})}

    with_notes = prompt("reply_with_notes", language=language)
    return Replier(chat, prompt("reply"), fields, prompt_with_notes=with_notes)


def put(probe: Probe, recall: Recall, told: str | None) -> Question:
    """The probe as it is asked. A memory is searched with the whole of it, options included, as published."""
    if probe.kind == "choice":
        fields = {"question": probe.question, "options": numbered(probe.options)}
        output: type = choice_of(len(probe.options))
    else:
        fields = {"schema": probe.question}
        output = values_of(json.loads(probe.question))
    query = prompt(probe.kind, language=probe.language).render(fields)[-1].content
    if told is not None:
        return Question(prompt(f"{probe.kind}_told", output, probe.language), {**fields, "told": told}, query)
    if recall.notes:
        return Question(
            prompt(f"{probe.kind}_with_notes", output, probe.language),
            {**fields, "notes": recall.notes},
            query,
        )
    return Question(prompt(probe.kind, output, probe.language), fields, query)


def parsed(value: ChoiceAnswer | Values) -> str:
    """The option's number, or the state values as JSON."""
    if isinstance(value, ChoiceAnswer):
        return str(value.answer)
    return json.dumps(value.chosen(), ensure_ascii=False)
