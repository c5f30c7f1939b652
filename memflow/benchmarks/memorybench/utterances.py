"""The corpora as turns: each conversation an episode, each of its sessions one event of given messages.

The episode is built on the domain's shared feedback episode, which comes first (paper, A.3.3: training
feedback and corpus both stand in memory). Captions of shared images are left out, as the published code
leaves them out; so a question whose answer stands in a caption alone cannot be answered.
"""

from memflow.benchmarks.memorybench.selection import DIALOGUES, Corpus
from memflow.records import Turn


def message_id(episode_id: str, dia_id: str) -> str:
    """`locomo-3/D1:5`: unique within the domain."""
    return f"{episode_id}/{dia_id}"


def turns(domain: str, corpora: list[Corpus]) -> list[Turn]:
    """One row per message. Speaker A is the user, speaker B the assistant, as for the paper's memories."""
    return [
        Turn(
            domain=domain,
            episode_id=corpus.episode_id,
            base=DIALOGUES,
            checkpoint=0,
            event=event,
            position=position,
            message_id=message_id(corpus.episode_id, spoken.dia_id),
            kind="given",
            role="user" if spoken.speaker == corpus.conversation.speaker_a else "assistant",
            speaker=spoken.speaker,
            text=spoken.text,
            sent_at=session.date,
        )
        for corpus in corpora
        for event, session in enumerate(corpus.conversation.sessions)
        for position, spoken in enumerate(session.messages)
    ]
