"""Turns and feedback as episodes for the player: the domain's dialogues first, then each conversation on top of them.

Everything is given: nobody replies while it is played. What a dialogue holds is what the two said; what users pressed,
their scores and all gold stay outside.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from memflow.benchmarks.memorybench.probes import feedback_id
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.memories.memory import Message
from memflow.play import Episode, Event
from memflow.records import FeedbackRound, Turn


def episodes(turns: Sequence[Turn], feedback: Sequence[FeedbackRound]) -> list[Episode]:
    """The dialogues' episode, one event per case, then an episode per conversation, one event per session."""
    dialogues = [_dialogue(list(rows)) for _, rows in groupby(feedback, key=lambda row: row.case_id)]
    talks = groupby((turn for turn in turns if turn.reason is None), key=lambda turn: turn.episode_id)
    return [
        Episode(DIALOGUES, _events(messages for messages in dialogues if messages), checkpoints=1),
        *(_conversation(episode, list(said)) for episode, said in talks),
    ]


def _conversation(episode: str, turns: Sequence[Turn]) -> Episode:
    sessions = groupby(turns, key=lambda turn: turn.event)
    return Episode(
        episode,
        _events([_message(turn) for turn in session] for _, session in sessions),
        checkpoints=1,
        base=turns[0].base,
    )


def _events(arrivals: Iterable[Sequence[Message]]) -> tuple[Event, ...]:
    return tuple(Event(number, 0, "given", tuple(messages)) for number, messages in enumerate(arrivals))


def _message(turn: Turn) -> Message:
    role: Any = turn.role
    return Message(turn.message_id, role, turn.text, turn.speaker, turn.sent_at)


def _dialogue(rows: Sequence[FeedbackRound]) -> list[Message]:
    """What was said about one case. A row with a reason is left out; so is all of a dialogue that begins with one."""
    said: list[tuple[Any, str]] = []
    last: FeedbackRound | None = None
    for row in rows:
        if row.reason is None:
            said += [("user", row.user_text), ("assistant", row.answer)]
            last = row
    if last is not None and last.critique is not None:
        said.append(("user", last.critique))
    return [Message(feedback_id(rows[0].case_id, number), role, text) for number, (role, text) in enumerate(said)]
