"""Turns to episodes, and how an assistant is asked: its replies while it is played, and the probes.

Every session is one event. On-policy the assistant replies, and the simulator, playing the user, goes on from
there (paper, section 3.2; user.py). Off-policy the dialogue of a recorded run is given (section 4.2): nobody is
asked, and its rounds are written as they would have been.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memflow.benchmarks.amemgym.answers import ChoiceAnswer, Values, choice_of, values_of
from memflow.benchmarks.amemgym.config import Sizes, sizes_of
from memflow.benchmarks.amemgym.states import History, histories
from memflow.benchmarks.amemgym.user import user_model
from memflow.benchmarks.amemgym.wording import numbered, prompt
from memflow.benchmarks.api import Question, States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import message_of
from memflow.chat.requests import Chat
from memflow.memories.memory import Message, Recall
from memflow.records import Probe, Turn
from memflow.run.play import Episode, Event, Replier

ROUND = 2
"""Messages of a round: the user's and the reply."""


def make_episodes(domain: Domain, states: States, turns: Sequence[Turn], simulator: Chat) -> list[Episode]:
    """One episode per user that is not quarantined; turns with a reason are not played."""
    sizes = sizes_of(domain)
    found = []
    for user_id, life in histories(states).items():
        sessions: dict[int, list[Turn]] = {}
        for turn in sorted(turns, key=lambda turn: (turn.event, turn.position)):
            if turn.episode_id == user_id and turn.reason is None:
                sessions.setdefault(turn.event, []).append(turn)
        events = (_event(sizes, life, session, simulator) for session in sessions.values())
        found.append(Episode(user_id, tuple(events)))
    return found


def _event(sizes: Sizes, life: History, session: Sequence[Turn], simulator: Chat) -> Event:
    """A session to be played from its first message on, or given whole and written round by round."""
    first = session[0]
    messages = tuple(message_of(turn) for turn in session)
    if first.kind == "given":
        return Event(first.event, first.checkpoint, "given", messages, together=ROUND)
    follow_up = user_model(sizes, life, first, simulator) if first.follow_ups else None
    return Event(first.event, first.checkpoint, "exchange", messages, first.follow_ups, follow_up)


def make_replier(domain: Domain, chat: Chat) -> Replier | None:
    """Replies with what was recalled: notes in a system message of their own, verbatim turns as history.

    None off-policy.
    """
    sizes = sizes_of(domain)
    if sizes.policy == "off":
        return None

    def fields(recall: Recall, message: Message) -> Mapping[str, Any]:
        return {"message": message.text, **({"notes": recall.notes} if recall.notes else {})}

    with_notes = prompt("reply_with_notes", language=sizes.language)
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
