"""What the capabilities of a memory server decide: the mode of reads, the messages of a write, and missing evidence."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from memflow.errors import BadSettings
from memflow.memories.memory import Memory, Message
from memflow.memories.server.mirror import SERVER
from memflow.memories.server.protocol import Capabilities, Hello, SentMessage

MODES = AUTO, AS_OF, RESTORE, ASK_AT_ONCE = "auto", "as_of", "restore", "ask_at_once"
PREFERRED = (AS_OF, RESTORE)
"""The modes that `auto` prefers to asking at once, best first."""
NO_SOURCES = (
    'sources are not reported: the memory server declares `sources: "none"`, so no answer can be attributed to a '
    "message. Return the ids of messages with each item."
)
NO_EXPORT = (
    'write and read failures cannot be told apart: the memory server declares `export: "none"`, so only what it '
    "returned is known. Add the operation `export`."
)
NO_CONTENT = (
    'the content of the memory is not reported: the memory server declares `export: "none"`. Add the operation '
    "`export`."
)


def missing_capability(mode: str, capabilities: Capabilities) -> str:
    """Return the declaration that a mode needs and the server lacks; empty if the mode is possible."""
    if mode == AS_OF and capabilities.as_of != "writes":
        return f'`as_of: "writes"` (it declares "{capabilities.as_of}")'
    if mode == AS_OF and capabilities.spaces and not capabilities.deterministic:
        return "`spaces: 0` or `deterministic: true`, since the spaces of played episodes are read later"
    if mode == RESTORE and not capabilities.restore:
        return "`restore: true`"
    if mode == RESTORE and capabilities.export == "none":
        return '`export: "live"` or "history"'
    if mode in PREFERRED and not capabilities.pure_reads:
        return "`pure_reads: true`, since a question would change what later questions find"
    return ""


def choose_mode(mode: str, hello: Hello) -> str:
    """Return the mode to use with a server. Raises BadSettings for a mode that the server does not support."""
    if mode == AUTO:
        return next((name for name in PREFERRED if not missing_capability(name, hello.can)), ASK_AT_ONCE)
    if missing := missing_capability(mode, hello.can):
        raise BadSettings(
            f"the memory server {hello.name} {hello.version} cannot be used with mode = {mode!r}: it lacks the "
            f"capability {missing}. Set mode = {AUTO!r} or {ASK_AT_ONCE!r} in memflow.toml."
        )
    return mode


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


def is_server(memory: type[Memory]) -> bool:
    """Return whether a class of memories runs as a server."""
    return SERVER in memory.bookkeeping_kinds


def declared_capabilities(kind: str, meta: Mapping[str, Any]) -> Capabilities | None:
    """Return the capabilities that an entry of kind `server` records; None for another entry."""
    return Capabilities(**meta["can"]) if kind == SERVER else None
