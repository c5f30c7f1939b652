"""ChatGPT's export: `mapping` has the nodes of a conversation by id, each with a message, a parent and children."""

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

TEXTS = ("text", "multimodal_text")
"""The content types that have texts. Others are code, its output, web pages and thoughts."""


def read_chatgpt(conversation: Mapping[str, Any]) -> Conversation:
    """Return a conversation. Raises InvalidConversation."""
    if not isinstance(conversation["mapping"], dict):
        raise InvalidConversation("`mapping` is not a JSON object")
    omitted: Counter[str] = Counter()
    nodes = {name: _node(mapping(node), omitted) for name, node in conversation["mapping"].items()}
    current = conversation.get("current_node")
    return Conversation(
        str(conversation.get("title") or ""),
        nodes,
        current if isinstance(current, str) else None,
        moment(conversation.get("create_time")),
        omitted,
    )


def _node(node: Mapping[str, Any], omitted: Counter[str]) -> ChatNode:
    parent = node.get("parent")
    parent = parent if isinstance(parent, str) else None
    message = mapping(node.get("message"))
    if not message:
        return ChatNode(parent)
    role = mapping(message.get("author")).get("role")
    content = mapping(message.get("content"))
    reason = _reason(message, role, content)
    if reason is not None:
        omitted[reason] += 1
        return ChatNode(parent)
    text = _text(content, omitted)
    if not text.strip():
        omitted["messages without text"] += 1
    return ChatNode(
        parent, "user" if role == "user" else "assistant", text, moment(message.get("create_time"))
    )


def _reason(message: Mapping[str, Any], role: Any, content: Mapping[str, Any]) -> str | None:
    """Return why a message is not part of the dialogue, or None."""
    if role not in ("user", "assistant"):
        return "messages of the system or a tool"
    if mapping(message.get("metadata")).get("is_visually_hidden_from_conversation"):
        return "hidden messages"
    if message.get("recipient") not in (None, "all"):
        return "calls of tools"
    if content.get("content_type") not in TEXTS:
        return "code, web pages and thoughts"
    return None


def _text(content: Mapping[str, Any], omitted: Counter[str]) -> str:
    parts = content.get("parts")
    texts = []
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(mapping(part).get("text"), str):
            texts.append(part["text"])  # the transcript of a voice message
        else:
            omitted["images and files"] += 1
    return "\n".join(text for text in texts if text.strip())
