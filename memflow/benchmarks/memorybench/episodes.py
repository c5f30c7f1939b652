"""Turns and feedback as episodes: the domain's dialogues first, then each conversation on top of them.

Everything is given: nobody replies while it is played. What a dialogue holds is what the two said; what
users pressed, their scores and all gold stay outside.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from memflow.benchmarks.memorybench.probes import feedback_id
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.memories.memory import Message
from memflow.play import Episode, Event
from memflow.records import FeedbackRound, Turn

T = TypeVar("T")


def episodes(turns: Sequence[Turn], feedback: Sequence[FeedbackRound]) -> list[Episode]:
    """The dialogues' episode, one event per case, then an episode per conversation, one event per session."""
    cases = _grouped(feedback, lambda row: row.case_id)
    dialogues = [_dialogue(sorted(rows, key=lambda row: row.round)) for rows in cases]
    talks = _grouped((turn for turn in turns if turn.reason is None), lambda turn: turn.episode_id)
    return [
        Episode(DIALOGUES, _events(messages for messages in dialogues if messages)),
        *(_conversation(sorted(said, key=lambda turn: (turn.event, turn.position))) for said in talks),
    ]


def _grouped(rows: Iterable[T], key: Callable[[T], object]) -> list[list[T]]:
    groups: dict[object, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return list(groups.values())


def _conversation(turns: Sequence[Turn]) -> Episode:
    sessions = _grouped(turns, lambda turn: turn.event)
    events = _events([_message(turn) for turn in session] for session in sessions)
    return Episode(turns[0].episode_id, events, turns[0].base)


def _events(arrivals: Iterable[Sequence[Message]]) -> tuple[Event, ...]:
    return tuple(Event(number, 0, "given", tuple(messages)) for number, messages in enumerate(arrivals))


def _message(turn: Turn) -> Message:
    role: Any = turn.role
    return Message(turn.message_id, role, turn.text, turn.speaker, turn.sent_at)


def _dialogue(rows: Sequence[FeedbackRound]) -> list[Message]:
    """What was said about one case; a row with a reason is left out."""
    said: list[tuple[Any, str]] = []
    last: FeedbackRound | None = None
    for row in rows:
        if row.reason is None:
            said += [("user", row.user_text), ("assistant", row.answer)]
            last = row
    if last is not None and last.critique is not None:
        said.append(("user", last.critique))
    return [
        Message(feedback_id(rows[0].case_id, number), role, text) for number, (role, text) in enumerate(said)
    ]
