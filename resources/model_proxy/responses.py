"""The responses of the model proxy in OpenAI's form: completions, chunks of a stream, embeddings and errors."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from memflow.chat.requests import Completion
from memflow.errors import (
    BudgetSpent,
    ChatError,
    EndpointDown,
    MemflowError,
    ModelMisconfigured,
    NoAnswer,
    PromptTooLong,
    QuotaExhausted,
    RequestRefused,
)
from memflow.memories.entries import Vector
from memflow.resources.model_proxy.stored_answers import ProxiedAnswer

STATUSES: tuple[tuple[type[Exception], int, str], ...] = (
    (BudgetSpent, 402, "memflow_budget_spent"),
    (QuotaExhausted, 429, "insufficient_quota"),
    (PromptTooLong, 400, "context_length_exceeded"),
    (ModelMisconfigured, 400, "model_misconfigured"),
    (RequestRefused, 400, "request_rejected"),
    (EndpointDown, 503, "endpoint_unreachable"),
    (NoAnswer, 502, "no_answer"),
    (ChatError, 502, "provider_failed"),
    (MemflowError, 500, "memflow_failed"),
)
"""The status and code of the response for each error. A rejection keeps the provider's status, if it sent one."""
FINAL = {"x-should-retry": "false"}
"""The header of errors: memflow has already repeated what may succeed, so OpenAI's clients do not repeat it."""


def completion_body(completion: Completion, model: str) -> dict[str, Any]:
    """Return the body of a chat completion."""
    answer = ProxiedAnswer.restored(completion.text)
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.tool_calls:
        message["tool_calls"] = [dict(call) for call in answer.tool_calls]
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(completion, answer)}
    return {
        "id": f"chatcmpl-{completion.digest}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{**choice, "logprobs": answer.logprobs}],
        "usage": _usage(completion),
    }


def completion_events(completion: Completion, model: str, *, with_usage: bool) -> Iterator[bytes]:
    """Yield the server-sent events of a streamed chat completion: the whole answer, its end, and its token counts."""
    body = completion_body(completion, model)
    [choice] = body["choices"]
    shared = {key: body[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    delta = {key: value for key, value in choice["message"].items() if key != "tool_calls"}
    if "tool_calls" in choice["message"]:
        calls = choice["message"]["tool_calls"]
        delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(calls)]
    parts: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None, "logprobs": choice["logprobs"]}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
    ]
    if with_usage:
        parts.append({"choices": [], "usage": body["usage"]})
    for part in parts:
        yield f"data: {json.dumps({**shared, **part}, ensure_ascii=False)}\n\n".encode()
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


def error_body(
    message: str, code: str = "invalid_request", kind: str = "invalid_request_error"
) -> dict[str, Any]:
    """Return the body of an error response."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def error_of(error: MemflowError) -> tuple[int, dict[str, Any]]:
    """Return the status and the body of the response for a failed request."""
    status, code = next((status, code) for kind, status, code in STATUSES if isinstance(error, kind))
    if isinstance(error, RequestRefused) and 400 <= error.status < 600:
        status = error.status
    if isinstance(error, NoAnswer) and error.end == "filtered":
        status, code = 400, "content_filter"
    details = f" {error.details}" if isinstance(error, RequestRefused) and error.details else ""
    kind = "insufficient_quota" if isinstance(error, BudgetSpent | QuotaExhausted) else "provider_error"
    return status, error_body(f"{error}{details}", code, kind)


def _finish_reason(completion: Completion, answer: ProxiedAnswer) -> str:
    if completion.cut:
        return "length"
    return "tool_calls" if answer.tool_calls else "stop"


def _usage(completion: Completion) -> dict[str, Any]:
    prompt, answer = completion.prompt_tokens, completion.completion_tokens
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
        "prompt_tokens_details": {"cached_tokens": completion.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": completion.reasoning_tokens},
    }
