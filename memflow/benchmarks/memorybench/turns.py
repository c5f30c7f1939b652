"""Conversion of corpora to turns: each corpus is an episode, and each session is one event of given messages.

The episode is based on the domain's shared feedback episode (paper, A.3.3: memory contains both feedback and corpus).
"""

from collections.abc import Sequence

from memflow.benchmarks.memorybench.selection import DIALOGUES, SelectedPool
from memflow.records import Turn


def message_id(episode_id: str, said: str) -> str:
    """Return the id of a message, unique within the domain: `locomo-3/D1:5`."""
    return f"{episode_id}/{said}"


def turns(domain: str, selection: Sequence[SelectedPool]) -> list[Turn]:
    """Return one row of utterance.turns for each message of the corpora."""
    return [
        Turn(
            domain=domain,
            episode_id=pool.name,
            base=DIALOGUES,
            checkpoint=0,
            event=event,
            position=position,
            message_id=message_id(pool.name, spoken.message_id),
            kind="given",
            role=spoken.role,
            speaker=spoken.speaker,
            text=spoken.text,
            sent_at=session.date,
        )
        for pool in (used.pool for used in selection)
        for event, session in enumerate(pool.corpus)
        for position, spoken in enumerate(session.messages)
    ]
