"""Episodes: off-policy, all replies are given; on-policy, the assistant replies to each message of the user."""

from collections.abc import Mapping, Sequence
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import given_episodes
from memflow.benchmarks.retraction.config import parse_config
from memflow.benchmarks.retraction.question import PACKAGE
from memflow.chat.prompts import load_in_language
from memflow.chat.requests import Chat
from memflow.memories.memory import Message, Recall
from memflow.records import Turn
from memflow.run.play import Episode, Event, Replier


def make_episodes(turns: Sequence[Turn]) -> list[Episode]:
    """Return one episode for each user, in the order of the turns."""
    return [_with_exchanges(episode, turns) for episode in given_episodes(turns)]


def _with_exchanges(episode: Episode, turns: Sequence[Turn]) -> Episode:
    exchanges = {
        turn.event: turn
        for turn in turns
        if turn.kind == "exchange" and turn.episode_id == episode.episode_id
    }
    if not exchanges:
        return episode
    events = [
        Event(event.number, event.checkpoint, "exchange", event.messages, forgets=event.forgets)
        if event.number in exchanges
        else event
        for event in episode.events
    ]
    return Episode(episode.episode_id, tuple(events))


def make_replier(domain: Domain, chat: Chat) -> Replier | None:
    """Return the function that generates on-policy replies, or None off-policy."""
    config = parse_config(domain)
    if config.policy == "off":
        return None

    def fields(recall: Recall, message: Message) -> Mapping[str, Any]:
        return {"message": message.text, **({"notes": recall.notes} if recall.with_notes else {})}

    language = config.languages[0]
    with_notes = load_in_language(PACKAGE, "reply_with_notes", language=language)
    return Replier(chat, load_in_language(PACKAGE, "reply"), fields, prompt_with_notes=with_notes)
