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
        f"Session {number}, {chunk.date}:\n{_messages(chunk, layout)}"
        if chunk.date
        else f"Session {number}:\n{_messages(chunk, layout)}"
        for number, chunk in enumerate(chunks, 1)
    )


def _messages(chunk: Chunk, layout: str) -> str:
    if layout == "json":
        messages = [{"role": role, "content": text} for role, text in chunk.messages]
        return json.dumps(messages, ensure_ascii=False)
    return "\n".join(f"{role}: {text}" for role, text in chunk.messages)
