"""The responses of the model proxy in OpenAI's form: completions, chunks of a stream, embeddings and errors."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memflow.chat.requests import Completion
from memflow.errors import ChatError, FatalChatError, MemflowError, RequestRefused
from memflow.memories.entries import Vector

_STORED = '{"proxied_answer":'
"""The start of the text of a completion in the ledger for an answer that is more than a text."""
CODES = {"too_long": "context_length_exceeded", "filtered": "content_filter"}
"""OpenAI's codes of errors. Others have the kind of failure that the ledger records."""
FINAL = {"x-should-retry": "false"}
"""The header of errors: memflow has already repeated what may succeed, so OpenAI's clients do not repeat it."""


@dataclass(frozen=True)
class ProxiedAnswer:
    """An answer of a model: its text, its tool calls in OpenAI's form, and its log probabilities, if requested."""

    text: str
    tool_calls: Sequence[Mapping[str, Any]] = ()
    logprobs: Any = None

    def stored(self) -> str:
        """Return the text for the ledger."""
        if not self.tool_calls and self.logprobs is None and not self.text.startswith(_STORED):
            return self.text
        kept = {"text": self.text, "tool_calls": list(self.tool_calls), "logprobs": self.logprobs}
        return f"{_STORED}{json.dumps(kept, ensure_ascii=False)}}}"

    @classmethod
    def restored(cls, text: str) -> "ProxiedAnswer":
        """Return the answer of a text in the ledger."""
        if not text.startswith(_STORED):
            return cls(text)
        kept = json.loads(text)["proxied_answer"]
        return cls(kept["text"], kept["tool_calls"], kept["logprobs"])


def completion_body(completion: Completion, model: str) -> dict[str, Any]:
    """Return the body of a chat completion in OpenAI's form."""
    answer = ProxiedAnswer.restored(completion.text)
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.tool_calls:
        message["tool_calls"] = [dict(call) for call in answer.tool_calls]
    reason = "length" if completion.cut else "tool_calls" if answer.tool_calls else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": answer.logprobs}
    usage = {
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "total_tokens": completion.prompt_tokens + completion.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": completion.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": completion.reasoning_tokens},
    }
    shared = {"id": f"chatcmpl-{completion.digest}", "created": 0, "model": model}
    return {**shared, "object": "chat.completion", "choices": [choice], "usage": usage}


def completion_events(completion: Completion, model: str, *, with_usage: bool) -> Iterator[bytes]:
    """Yield the server-sent events of a streamed chat completion: the whole answer, and its token counts."""
    body = {**completion_body(completion, model), "object": "chat.completion.chunk"}
    usage, [choice] = body.pop("usage"), body["choices"]
    delta = choice.pop("message")
    if calls := delta.get("tool_calls"):
        delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(calls)]
    parts: list[dict[str, Any]] = [{"choices": [{**choice, "delta": delta}]}]
    if with_usage:
        parts.append({"choices": [], "usage": usage})
    for part in parts:
        yield f"data: {json.dumps({**body, **part}, ensure_ascii=False)}\n\n".encode()
    yield b"data: [DONE]\n\n"


def embeddings_body(vectors: Vector, model: str, tokens: int, *, encoded: bool) -> dict[str, Any]:
    """Return the body of an embedding response. With `encoded`, each vector is base64 of little-endian floats."""
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode()
            if encoded
            else [float(number) for number in vector],
        }
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "model": model, "data": data, "usage": usage}


def error_body(message: str, code: str = "invalid_request") -> dict[str, Any]:
    """Return the body of an error response in OpenAI's form; `code` is also its type."""
    return {"error": {"message": message, "type": code, "param": None, "code": code}}


def ends_step(error: MemflowError) -> bool:
    """Return whether every further request would fail, too."""
    return isinstance(error, FatalChatError) or not isinstance(error, ChatError)


def error_of(error: MemflowError) -> tuple[int, dict[str, Any]]:
    """Return the HTTP status and the body of the response for a failed request."""
    kind, status, text = getattr(error, "end", "failed"), 503 if ends_step(error) else 502, str(error)
    if kind == "filtered":
        status = 400
    if isinstance(error, RequestRefused):  # the status of the provider, if it sent one
        status = error.status if 400 <= error.status < 600 else 400
        text = f"{text} {error.details}".rstrip()
    return status, error_body(text, CODES.get(kind, kind))
