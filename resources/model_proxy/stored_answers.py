"""The text of a completion in the ledger for an answer with tool calls or log probabilities, and its way back.

A completion stores one text. An answer that is only a text is stored as this text; any other as a JSON object.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_START = '{"proxied_answer":'


@dataclass(frozen=True)
class ProxiedAnswer:
    """An answer of a model: its text, its tool calls in OpenAI's form, and its log probabilities, if requested."""

    text: str
    tool_calls: Sequence[Mapping[str, Any]] = ()
    logprobs: Any = None

    def stored(self) -> str:
        """Return the text for the ledger."""
        if not self.tool_calls and self.logprobs is None and not self.text.startswith(_START):
            return self.text
        kept = {"text": self.text, "tool_calls": list(self.tool_calls), "logprobs": self.logprobs}
        return f"{_START}{json.dumps(kept, ensure_ascii=False)}}}"

    @classmethod
    def restored(cls, text: str) -> "ProxiedAnswer":
        """Return the answer of a text in the ledger."""
        if not text.startswith(_START):
            return cls(text)
        kept = json.loads(text)["proxied_answer"]
        return cls(kept["text"], kept["tool_calls"], kept["logprobs"])
