"""Claude's export: `chat_messages` has the messages of a conversation in order, in newer exports with their parents."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from memflow.benchmarks.dialogues.chat_exports.conversation import (
    ChatNode,
    Conversation,
    InvalidConversation,
    mapping,
    moment,
)

ROLES: Mapping[Any, Any] = {"human": "user", "assistant": "assistant"}
"""The roles by sender."""


def read_claude(conversation: Mapping[str, Any]) -> Conversation:
    """Return a conversation. Raises InvalidConversation."""
    messages = conversation["chat_messages"]
    if not isinstance(messages, list):
        raise InvalidConversation("`chat_messages` is not a list")
    omitted: Counter[str] = Counter()
    nodes: dict[str, ChatNode] = {}
    previous: str | None = None
    has_parents = any("parent_message_uuid" in mapping(each) for each in messages)
    for number, each in enumerate(messages):
        message = mapping(each)
        name = str(message.get("uuid") or number)
        if name in nodes:
            raise InvalidConversation(f"two messages have the uuid {name}")
        parent = message.get("parent_message_uuid") if has_parents else previous
        nodes[name] = _node(message, parent if isinstance(parent, str) else None, omitted)
        previous = name
    current = conversation.get("current_leaf_message_uuid")
    return Conversation(
        str(conversation.get("name") or ""),
        nodes,
        current if isinstance(current, str) else previous,
        moment(conversation.get("created_at")),
        omitted,
    )


def _node(message: Mapping[str, Any], parent: str | None, omitted: Counter[str]) -> ChatNode:
    role = ROLES.get(message.get("sender"))
    if role is None:
        omitted["messages of the system or a tool"] += 1
        return ChatNode(parent)
    for name in ("attachments", "files"):
        attached = message.get(name)
        omitted["images and files"] += len(attached) if isinstance(attached, list) else 0
    text = _text(message)
    if not text.strip():
        omitted["messages without text"] += 1
    return ChatNode(parent, role, text, moment(message.get("created_at")))


def _text(message: Mapping[str, Any]) -> str:
    """Return the text blocks of a message, without thoughts and calls of tools; older exports have only `text`."""
    blocks = message.get("content")
    texts = [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else [])
        if mapping(block).get("type") == "text" and isinstance(block.get("text"), str)
    ]
    if texts:
        return "\n".join(text for text in texts if text.strip())
    text = message.get("text")
    return text if isinstance(text, str) else ""
