"""Chats as text for prompts: in the layout of a transcript, or as JSON."""

import json
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Chunk:
    """A part of a history: its date, and its messages as (role, text) pairs."""

    date: str
    messages: Sequence[tuple[str, str]]


def lay_out(chunks: Sequence[Chunk], layout: str = "text") -> str:
    """Return the chunks in the given order, each with a number and its date. `layout` is `text` or `json`."""
    return "\n\n".join(
        f"Session {number}{f', {chunk.date}' if chunk.date else ''}:\n{_chat_text(chunk.messages, layout)}"
        for number, chunk in enumerate(chunks, 1)
    )


def _chat_text(messages: Sequence[tuple[str, str]], layout: str) -> str:
    """Return the messages as a transcript or as JSON."""
    if layout == "json":
        return json.dumps([{"role": role, "content": text} for role, text in messages], ensure_ascii=False)
    return "\n".join(f"{role}: {text}" for role, text in messages)
