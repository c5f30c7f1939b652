"""The sessions of a user as messages: a user is an episode, a session an event and a checkpoint."""

from collections.abc import Iterator

from memflow.benchmarks.halumem.config import HaluMemConfig
from memflow.benchmarks.halumem.load import PublishedSession, PublishedUser, date_of
from memflow.records import Turn


def make_turns(domain: str, user: PublishedUser, config: HaluMemConfig) -> Iterator[Turn]:
    """Yield the valid messages of a user in order. Those of a session arrive together."""
    for number, session in enumerate(user.sessions):
        if not isinstance(session, PublishedSession):
            continue
        messages = session.messages()
        start = session.start_time or (messages[0].timestamp if messages else "")
        for position, message in enumerate(messages):
            yield Turn(
                domain=domain,
                episode_id=user.uuid,
                checkpoint=number,
                event=number,
                position=position,
                message_id=f"{user.uuid}/session{number}/{position}",
                kind="given",
                role=message.role,
                text=message.content,
                sent_at=date_of(start if config.dates == "sessions" else message.timestamp or start),
            )
