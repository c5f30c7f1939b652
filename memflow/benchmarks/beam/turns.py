"""The messages of a conversation as turns: an episode per conversation, with one checkpoint at its end."""

from collections.abc import Iterator, Sequence

from memflow.benchmarks.beam.config import BeamConfig
from memflow.benchmarks.beam.conversations import Batch, BeamConversation, BeamMessage
from memflow.records import Turn


def message_id(episode: str, batch: Batch, message: BeamMessage) -> str:
    """Return the id of a message, such as `100k/1/b2/28`; it begins with its session."""
    return f"{episode}/{batch.name}/{message.number}{f'~{message.repeat + 1}' if message.repeat else ''}"


def message_text(message: BeamMessage, config: BeamConfig) -> str:
    """Return the text of a message, without the author's mark if the domain removes it."""
    return message.without_marker() if config.marker == "removed" else message.text


def make_turns(
    domain: str, episode: str, conversation: BeamConversation, config: BeamConfig
) -> Iterator[Turn]:
    """Yield the messages of a conversation in order, with the date of their batch if the domain has dates."""
    event = 0
    for batch in conversation.batches:
        for messages in _arrivals(batch, config):
            for position, message in enumerate(messages):
                yield Turn(
                    domain=domain,
                    episode_id=episode,
                    checkpoint=0,
                    event=event,
                    position=position,
                    message_id=message_id(episode, batch, message),
                    kind="given",
                    role=message.role,
                    text=message_text(message, config),
                    sent_at=batch.date if config.dates else None,
                )
            event += 1


def _arrivals(batch: Batch, config: BeamConfig) -> Sequence[Sequence[BeamMessage]]:
    if config.arrivals == "exchange":
        return batch.exchanges
    messages = [message for exchange in batch.exchanges for message in exchange]
    if config.arrivals == "message":
        return [[message] for message in messages]
    return [messages] if messages else []
