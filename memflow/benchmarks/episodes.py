"""Turns as the player takes them: messages, and episodes in which everything is given and nobody replies."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, cast

from memflow.memories.memory import Message
from memflow.records import Turn
from memflow.run.play import Episode, Event


def message_of(turn: Turn) -> Message:
    """What a memory sees of a turn."""
    role = cast(Literal["user", "assistant"], turn.role)
    return Message(turn.message_id, role, turn.text, turn.speaker, turn.sent_at)


def arrivals(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """The turns of one episode that arrive together, event by event, in order."""
    ordered = sorted(turns, key=lambda turn: (turn.event, turn.position))
    for _, come in groupby(ordered, key=lambda turn: turn.event):
        yield list(come)


def given_episodes(turns: Sequence[Turn]) -> list[Episode]:
    """An episode for each that has a message to play, in the order of their first; messages with a reason are not
    played. What arrives together is written at once."""
    held: dict[str, list[Turn]] = {}
    for turn in turns:
        if turn.reason is None:
            held.setdefault(turn.episode_id, []).append(turn)
    return [
        Episode(
            name,
            tuple(
                Event(number, come[0].checkpoint, "given", tuple(message_of(turn) for turn in come))
                for number, come in enumerate(arrivals(said))
            ),
        )
        for name, said in held.items()
    ]
