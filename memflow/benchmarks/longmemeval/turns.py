"""The histories of questions as turns: an episode per question, with one checkpoint at its end."""

from collections.abc import Iterator

from memflow.benchmarks.longmemeval.instances import Instance
from memflow.records import Turn


def turn_rows(domain: str, instance: Instance) -> Iterator[Turn]:
    """Yield the messages of a history. A session is one event: its messages arrive together, with its date."""
    for event, session in enumerate(instance.sessions()):
        for position, (place, message) in enumerate(instance.played(session)):
            yield Turn(
                domain=domain,
                episode_id=instance.key,
                checkpoint=0,
                event=event,
                position=position,
                message_id=instance.message_id(session, place),
                kind="given",
                role=message.role,
                text=message.content,
                sent_at=session.date,
            )
