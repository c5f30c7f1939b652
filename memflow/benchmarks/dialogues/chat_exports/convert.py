"""Conversion of an export to rows of messages: one history of the user."""

import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memflow.benchmarks.dialogues.chat_exports.chatgpt import read_chatgpt
from memflow.benchmarks.dialogues.chat_exports.claude import read_claude
from memflow.benchmarks.dialogues.chat_exports.conversation import (
    ChatNode,
    Conversation,
    InvalidConversation,
    mapping,
)
from memflow.errors import BadInput
from memflow.scoring.bundle_file import DAMAGE

HISTORY = "chats"
"""The id of the dialogue that has all conversations."""
LONGEST_TITLE = 60
MEMBER = "conversations.json"
LARGEST_MEMBER = 4 * 2**30
"""Bytes of an unpacked export."""


@dataclass(frozen=True)
class ConvertedChats:
    """The rows of messages, the numbers of what was read and omitted, and the faults of conversations."""

    source: str
    rows: Sequence[dict[str, Any]]
    conversations: int
    omitted: Counter[str] = field(default_factory=Counter)
    faults: Sequence[str] = ()


def convert_chats(name: str, content: bytes) -> ConvertedChats:
    """Return the messages of an export, of the branch that each conversation showed last.

    All conversations are one dialogue, whose sessions are the conversations and whose messages are in the order of
    time. Raises BadInput.
    """
    listed = _conversations(name, content)
    found: list[Conversation] = []
    sources: Counter[str] = Counter()
    faults: list[str] = []
    omitted: Counter[str] = Counter()
    for number, each in enumerate(listed, start=1):
        try:
            source, conversation = _read(mapping(each))
            conversation.current_branch()  # Raises for a cycle.
        except InvalidConversation as wrong:
            faults.append(f"conversation {number}: {wrong}; it is left out")
            continue
        sources[source] += 1
        omitted += conversation.omitted
        found.append(conversation)
    if not found:
        first = f" ({faults[0]})" if faults else ""
        raise BadInput(
            f"{name} contains no conversation of an export of ChatGPT or Claude{first}. Check the file."
        )
    latest = datetime.max.replace(tzinfo=UTC)
    found.sort(key=lambda each: _start(each) or latest)
    rows = list(_history(found, omitted))
    return ConvertedChats(" and ".join(sorted(sources)), rows, len(found), omitted, faults)


def _conversations(name: str, content: bytes) -> list[Any]:
    if content[:4] == b"PK\x03\x04":
        content = _unpacked(name, content)
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as wrong:
        raise BadInput(f"{name} is truncated or not JSON ({wrong}). Export the chats again.") from wrong
    if isinstance(value, dict) and isinstance(value.get("conversations"), list):
        value = value["conversations"]
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        raise BadInput(f"{name} is not a list of conversations. Give the file {MEMBER} of the export.")
    return value


def _unpacked(name: str, content: bytes) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [each for each in archive.infolist() if each.filename.rpartition("/")[2] == MEMBER]
            if not members:
                raise BadInput(
                    f"the archive {name} has no {MEMBER}. Give the archive of the export, or the file itself."
                )
            if members[0].file_size > LARGEST_MEMBER:
                raise BadInput(f"{MEMBER} in {name} is larger than 4 GiB. Unpack it, and divide it.")
            return archive.read(members[0])
    except DAMAGE as wrong:
        raise BadInput(f"the archive {name} is damaged ({wrong}). Export the chats again.") from wrong


def _read(conversation: Any) -> tuple[str, Conversation]:
    if "mapping" in conversation:
        return "ChatGPT", read_chatgpt(conversation)
    if "chat_messages" in conversation:
        return "Claude", read_claude(conversation)
    raise InvalidConversation("it has neither `mapping` (ChatGPT) nor `chat_messages` (Claude)")


def _start(conversation: Conversation) -> datetime | None:
    times = [node.time for node in conversation.nodes.values() if node.time is not None]
    return min(times, default=None) or conversation.created


def _history(conversations: Sequence[Conversation], omitted: Counter[str]) -> Iterator[dict[str, Any]]:
    """Yield the messages of all conversations in the order of time. A message without a time follows the one before."""
    timed: list[tuple[datetime, str, str, ChatNode]] = []
    for number, conversation in enumerate(conversations, start=1):
        chosen = conversation.current_branch()
        omitted["messages of other branches"] += len(conversation.messages(list(conversation.nodes))) - len(
            conversation.messages(chosen)
        )
        before = _start(conversation) or (timed[-1][0] if timed else datetime.min.replace(tzinfo=UTC))
        for place, node in enumerate(conversation.messages(chosen), start=1):
            # A branch keeps its order, also where the times of an export do not.
            before = max(node.time or before, before)
            timed.append((before, _session(number, conversation), f"{number}_{place}", node))
    timed.sort(key=lambda each: each[0])
    for at, session, name, node in timed:
        yield {
            "dialogue": HISTORY,
            "id": name,
            "session": session,
            "time": "" if node.time is None else at.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "role": node.role,
            # JSON may contain half of a surrogate pair, which no UTF-8 file can.
            "text": node.text.encode(errors="replace").decode(),
        }


def _session(number: int, conversation: Conversation) -> str:
    """Return the name of a conversation: its number by time, and its title as far as a name may contain it."""
    title = "".join(each if each.isprintable() and each != "/" else " " for each in conversation.title)
    title = " ".join(title.split())[:LONGEST_TITLE].strip()
    return f"{number}. {title}" if title else str(number)
