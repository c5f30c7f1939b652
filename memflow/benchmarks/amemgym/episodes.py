"""Episodes of AMemGym: one event per session, the assistant's replies, and the simulated user's follow-up messages.

On-policy, the assistant and the simulator reply in turn (paper, section 3.2). Off-policy, the dialogue comes from a
recorded run, and memories receive it round by round (section 4.2).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from memflow.benchmarks.amemgym.config import AMemGymConfig, parse_config
from memflow.benchmarks.amemgym.states import History, histories
from memflow.benchmarks.amemgym.wording import prompt
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import message_of
from memflow.chat.asking import Answer, ask
from memflow.chat.requests import Chat
from memflow.memories.memory import Message, Recall
from memflow.records import Turn
from memflow.run.play import Episode, Event, FollowUp, Replier

DAY = len("2020-10-01")
ROUND = 2
"""Messages per round: the user's message and the reply."""


def make_episodes(domain: Domain, states: States, turns: Sequence[Turn], simulator: Chat) -> list[Episode]:
    """Return one episode for each user that is not quarantined. Quarantined turns are omitted."""
    config = parse_config(domain)
    sessions: dict[str, dict[int, list[Turn]]] = defaultdict(dict)
    for turn in sorted(turns, key=lambda turn: (turn.event, turn.position)):
        if turn.reason is None:
            sessions[turn.episode_id].setdefault(turn.event, []).append(turn)
    return [
        Episode(
            user_id,
            tuple(_event(config, history, session, simulator) for session in sessions[user_id].values()),
            dated=config.dates_in_notes,
        )
        for user_id, history in histories(states).items()
    ]


def _event(config: AMemGymConfig, history: History, session: Sequence[Turn], simulator: Chat) -> Event:
    """Return the event of a session: given in rounds off-policy, or an exchange with follow-up messages on-policy."""
    opening = session[0]
    messages = tuple(message_of(turn) for turn in session)
    if opening.kind == "given":
        return Event(opening.event, opening.checkpoint, "given", messages, together=ROUND)
    follow_up = make_user_model(config, history, opening, simulator) if opening.follow_ups else None
    return Event(opening.event, opening.checkpoint, "exchange", messages, opening.follow_ups, follow_up)


def make_replier(domain: Domain, chat: Chat) -> Replier | None:
    """Return the function that generates on-policy replies, or None off-policy.

    A memory that recalls notes always has a system message, as in the published code. Recalled dialogue turns become
    the message history.
    """
    config = parse_config(domain)
    if config.policy == "off":
        return None

    def fields(recall: Recall, message: Message) -> Mapping[str, Any]:
        if recall.with_notes:
            return {"message": message.text, "notes": recall.notes}
        return {"message": message.text}

    with_notes = prompt("reply_with_notes", language=config.language)
    return Replier(chat, prompt("reply"), fields, prompt_with_notes=with_notes)


def make_user_model(config: AMemGymConfig, history: History, turn: Turn, simulator: Chat) -> FollowUp:
    """Return the function that generates the user's follow-up messages in the session that begins with `turn`.

    With `user_model = "paper"`, the prompt contains the profile and the current states (section 3.2). With
    "published_code", it contains no states. No prompt contains future states.
    """
    published = config.user_model == "published_code"
    stem = "follow_up_published" if published else "follow_up"
    fields = _fields(history, turn, published=published)

    async def follow_up(messages: Sequence[Message]) -> Answer[str]:
        shown_messages = messages[-config.user_context :] if config.user_context else messages
        context = "\n".join(f"{message.role}: {message.text}" for message in shown_messages)
        return await ask(simulator, prompt(stem, language=config.language), {**fields, "context": context})

    return follow_up


def _fields(history: History, turn: Turn, *, published: bool) -> Mapping[str, str]:
    """Return the fields of the user model's prompt.

    As in the paper, the fields contain the day of the session and the user's states. If `published`, the fields contain
    the last day of the period and no states.
    """
    end = history.end(turn.checkpoint)
    fields = {
        "profile": history.profile.profile,
        "start": history.profile.start_date,
        "schema": history.schema_text,
        "query": turn.text,
        "date": end,
    }
    if not published:
        fields["date"] = (turn.sent_at or end)[:DAY]
        fields["state"] = history.period_texts[turn.checkpoint]
    return fields
