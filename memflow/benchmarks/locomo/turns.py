"""The messages of a conversation as turns: an episode per conversation, with one checkpoint at its end."""

from collections.abc import Iterator, Sequence

from memflow.benchmarks.locomo.config import LoCoMoConfig
from memflow.benchmarks.locomo.load import message_id
from memflow.benchmarks.memorybench.tasks.locomo import Conversation, ConversationDay, LocomoMessage
from memflow.records import Turn


def make_turns(domain: str, conversation: Conversation, config: LoCoMoConfig) -> Iterator[Turn]:
    """Yield the messages of a conversation in order. Speaker A is the user and speaker B the assistant."""
    event = 0
    for session in conversation.sessions:
        for batch in _batches(session, config.arrivals):
            for position, message in enumerate(batch):
                yield Turn(
                    domain=domain,
                    episode_id=conversation.sample_id,
                    checkpoint=0,
                    event=event,
                    position=position,
                    message_id=message_id(conversation, message.dia_id),
                    kind="given",
                    role="user" if message.speaker == conversation.speaker_a else "assistant",
                    speaker=message.speaker,
                    text=message_text(message, config),
                    sent_at=session.date,
                    caption=message_text(message, config).removeprefix(message.text) or None,
                )
            event += 1


def message_text(message: LocomoMessage, config: LoCoMoConfig) -> str:
    """Return the text of a message, with the caption of a shared image unless captions are left out."""
    if config.captions == "left_out" or not message.blip_caption:
        return message.text
    return f"{message.text} [shares an image: {message.blip_caption}]"


def dated_lines(conversation: Conversation, config: LoCoMoConfig) -> dict[str, str]:
    """Return each message by its id in the file, as a line with date and speaker."""
    return {
        message.dia_id: f"[{session.date}] {message.speaker}: {message_text(message, config)}"
        for session in conversation.sessions
        for message in session.messages
    }


def _batches(session: ConversationDay, arrivals: str) -> Iterator[Sequence[LocomoMessage]]:
    messages = session.messages
    size = {"pair": 2, "message": 1}.get(arrivals, max(1, len(messages)))
    return (messages[start : start + size] for start in range(0, len(messages), size))
