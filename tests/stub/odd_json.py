"""JSON of chat completions with changed fields, and with literals that json.dumps would not write."""

import json
from collections.abc import Mapping
from typing import Any

TEXT = "An answer."


class Literal(str):
    """A JSON literal that json.dumps would not write, such as NaN or an unpaired escape."""


def completion(
    message: Any = None, *, choice: Mapping[str, Any] | None = None, **root: Any
) -> dict[str, Any]:
    """Return a chat completion with changed fields of message (or another message), choice and root."""
    if message is None or isinstance(message, dict):
        message = {"role": "assistant", "content": TEXT, **(message or {})}
    choices = [{"index": 0, "finish_reason": "stop", "message": message, **(choice or {})}]
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return {"id": "x", "object": "chat.completion", "choices": choices, "usage": usage, **root}


def dump_json(value: Any) -> bytes:
    """Return JSON text in which every Literal is written without quotes."""
    literals: list[str] = []

    def marked(part: Any) -> Any:
        if isinstance(part, Literal):
            literals.append(part)
            return f"<literal {len(literals) - 1}>"
        if isinstance(part, dict):
            return {key: marked(item) for key, item in part.items()}
        return [marked(item) for item in part] if isinstance(part, list) else part

    text = json.dumps(marked(value))
    for number, literal in enumerate(literals):
        text = text.replace(f'"<literal {number}>"', literal)
    return text.encode("utf-8", "surrogatepass")
