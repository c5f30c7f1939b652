"""Conversion of turns to messages and episodes, for benchmarks without simulated users."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, cast

from memflow.memories.forgetting import ForgetRequest
from memflow.memories.memory import Message
from memflow.records import Turn
from memflow.run.play import Episode, Event


def message_of(turn: Turn) -> Message:
    """Return a turn as the message that a memory receives, without gold."""
    role = cast(Literal["user", "assistant"], turn.role)
    return Message(turn.message_id, role, turn.text, turn.speaker, turn.sent_at, turn.caption)


def forget_requests(turns: Sequence[Turn]) -> Mapping[str, ForgetRequest]:
    """Return the turns' requests to forget by message id, for `Event.forgets`. Raises BadInput for an invalid one."""
    return {
        turn.message_id: ForgetRequest.from_json(turn.forgets) for turn in turns if turn.forgets is not None
    }


def arrivals(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Yield the turns of an episode in order, one list for each event (turns that are written to memory together)."""
    ordered = sorted(turns, key=lambda turn: (turn.event, turn.position))
    for _, come in groupby(ordered, key=lambda turn: turn.event):
        yield list(come)


def given_episodes(turns: Sequence[Turn]) -> list[Episode]:
    """Return one episode for each episode id that has played messages, in the order of the turns.

    Messages with a reason are skipped. All given messages of an event are written at once.
    """
    by_episode: dict[str, list[Turn]] = {}
    for turn in turns:
        if turn.reason is None:
            by_episode.setdefault(turn.episode_id, []).append(turn)
    return [
        Episode(
            name,
            tuple(
                Event(
                    number,
                    come[0].checkpoint,
                    cast(Literal["given", "exchange"], come[0].kind),
                    tuple(message_of(turn) for turn in come),
                    forgets=forget_requests(come),
                )
                for number, come in enumerate(arrivals(said))
            ),
        )
        for name, said in by_episode.items()
    ]
