"""The corpora as turns: each an episode, each of its sessions one event of given messages.

The episode is built on the domain's shared feedback episode, which comes first (paper, A.3.3: training
feedback and corpus both stand in memory).
"""

from collections.abc import Sequence

from memflow.benchmarks.memorybench.selection import DIALOGUES, Taken
from memflow.records import Turn


def message_id(episode_id: str, said: str) -> str:
    """`locomo-3/D1:5`: unique within the domain."""
    return f"{episode_id}/{said}"


def turns(domain: str, selection: Sequence[Taken]) -> list[Turn]:
    """One row per message."""
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
        for pool in (taken.pool for taken in selection)
        for event, session in enumerate(pool.corpus)
        for position, spoken in enumerate(session.messages)
    ]
