"""Chats as text for prompts: in the layout of a transcript, or as JSON."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Layout = Literal["text", "json"]


@dataclass(frozen=True)
class Chunk:
    """A part of a history: its date, and its messages as (role, text) pairs, or a note on them."""

    date: str
    messages: Sequence[tuple[str, str]] = ()
    note: str = ""


def lay_out(chunks: Sequence[Chunk], layout: Layout = "text") -> str:
    """Return the chunks in the given order, each with a number and its date."""
    return "\n\n".join(
        f"{_head(number, chunk)}\n{_body(chunk, layout)}" for number, chunk in enumerate(chunks, 1)
    )


def _head(number: int, chunk: Chunk) -> str:
    return f"Session {number}, {chunk.date}:" if chunk.date else f"Session {number}:"


def _body(chunk: Chunk, layout: Layout) -> str:
    if chunk.note:
        return chunk.note
    if layout == "json":
        messages = [{"role": role, "content": text} for role, text in chunk.messages]
        return json.dumps(messages, ensure_ascii=False)
    return "\n".join(f"{role}: {text}" for role, text in chunk.messages)
