"""Conversion of dialogues to turns. A checkpoint is the end of a session: a run of messages of the same session.

A question between two messages of a session is asked there (`Probe.after`). No event contains the place of a question.
"""

from collections.abc import Iterator, Sequence

from memflow.benchmarks.dialogues.config import DialoguesConfig
from memflow.benchmarks.dialogues.content import OwnDialogue, OwnMessage
from memflow.records import Turn


def checkpoints_of(messages: Sequence[OwnMessage]) -> list[int]:
    """Return the checkpoint of each message, from 0."""
    found: list[int] = []
    for place, message in enumerate(messages):
        if not place:
            found.append(0)
        else:
            found.append(found[-1] + (message.session != messages[place - 1].session))
    return found


def message_id(dialogue: OwnDialogue, message: str) -> str:
    """Return the id of a message, which is unique in a domain."""
    return f"{dialogue.dialogue_id}/{message}"


def make_turns(domain: str, dialogue: OwnDialogue, config: DialoguesConfig) -> Iterator[Turn]:
    """Yield the messages of a dialogue as rows of utterance.turns."""
    cuts = {asked.visible for asked in dialogue.questions}
    checkpoints = checkpoints_of(dialogue.messages)
    event, position = 0, 0
    for place, message in enumerate(dialogue.messages):
        joined = (
            place > 0
            and place not in cuts
            and checkpoints[place] == checkpoints[place - 1]
            and _together(dialogue.messages, place, position, config)
        )
        if place:
            event, position = (event, position + 1) if joined else (event + 1, 0)
        yield Turn(
            domain=domain,
            episode_id=dialogue.dialogue_id,
            checkpoint=checkpoints[place],
            event=event,
            position=position,
            message_id=message_id(dialogue, message.message_id),
            kind="given",
            role=message.role,
            speaker=message.speaker,
            text=message.text,
            sent_at=message.time,
            reason=dialogue.reason,
        )


def _together(messages: Sequence[OwnMessage], place: int, position: int, config: DialoguesConfig) -> bool:
    """Return whether a message joins the group of the message before it, which has the given position."""
    if config.arrivals == "pair":
        return position == 0 and (messages[place - 1].role, messages[place].role) == ("user", "assistant")
    return config.arrivals == "session"
