"""The messages of one write: how arrivals are cut, and how a message is sent."""

from collections.abc import Sequence
from itertools import groupby
from typing import Literal

from memflow.memories.memory import Message
from memflow.memories.server.protocol import Capabilities, SentMessage


def cut_writes(
    messages: Sequence[Message], batch: Literal["message", "pair", "session", "any"]
) -> list[Sequence[Message]]:
    """Return the messages of each write. A session consists of messages that arrive together and have one date."""
    if batch == "message":
        return [[message] for message in messages]
    if batch == "pair":
        return [messages[first : first + 2] for first in range(0, len(messages), 2)]
    if batch == "session":
        return [list(group) for _, group in groupby(messages, key=lambda message: message.sent_at)]
    return [messages] if messages else []


def sent_message(message: Message, capabilities: Capabilities) -> SentMessage:
    """Return a message as it is sent: with its date, or with the date before its text for a server without dates."""
    in_text = message.sent_at is not None and not capabilities.dates and message.sent_at not in message.text
    return SentMessage(
        id=message.message_id,
        role=message.role,
        text=f"[{message.sent_at}] {message.text}" if in_text else message.text,
        speaker=message.speaker,
        sent_at=message.sent_at if capabilities.dates else None,
    )
