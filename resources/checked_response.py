"""The raw response of an endpoint to a request of the model check: every part may be missing or of an odd type.

replies.py parses the responses of a run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memflow.fingerprint import canonical_json


@dataclass(frozen=True)
class Response:
    """An HTTP response: its status, and its body as JSON or, if it is no JSON, as text."""

    status: int
    body: Any

    @property
    def ok(self) -> bool:
        """Whether the response is a chat completion."""
        return self.status == 200 and bool(self.choice)

    @property
    def choice(self) -> Mapping[str, Any]:
        """The first choice of a chat completion; empty if there is none."""
        choices = self.body.get("choices") if isinstance(self.body, dict) else None
        return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}

    @property
    def message(self) -> Mapping[str, Any]:
        """The message of the first choice."""
        found = self.choice.get("message")
        return found if isinstance(found, dict) else {}

    @property
    def text(self) -> str:
        """The text of the first choice, without parts that are no text."""
        content = self.message.get("content")
        if isinstance(content, list):
            parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
            return "".join(str(part.get("text", "")) for part in parts)
        return content if isinstance(content, str) else ""

    @property
    def error(self) -> str:
        """The error message of the response, at most 200 characters."""
        told = self.body
        while isinstance(told, dict) and (inner := told.get("error") or told.get("message")):
            told = inner
        text = told if isinstance(told, str) else canonical_json(told)
        return f"{self.status}: {' '.join(text.split())[:200]}"

    @property
    def arguments(self) -> str:
        """The arguments of the first tool call; empty if there is none."""
        calls = self.message.get("tool_calls")
        call = calls[0] if isinstance(calls, list) and calls else None
        function = call.get("function") if isinstance(call, dict) else None
        return str(function.get("arguments", "")) if isinstance(function, dict) else ""

    @property
    def usage(self) -> Mapping[str, Any]:
        """The token usage; empty if the response has none."""
        found = self.body.get("usage") if isinstance(self.body, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def reasoning_tokens(self) -> int:
        """The tokens of the model's reasoning; 0 if the response does not state them."""
        details = self.usage.get("completion_tokens_details")
        tokens = details.get("reasoning_tokens") if isinstance(details, dict) else None
        return tokens if isinstance(tokens, int) else 0
