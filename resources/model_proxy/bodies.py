"""Requests and responses of the model proxy in OpenAI's form, and the ledger's form of both.

What memflow does not read of a request is forwarded as received. Responses are completions, chunks of a stream,
embeddings and errors. chats.py answers the requests.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Role, Sampling
from memflow.errors import ChatError, FatalChatError, MemflowError, RequestRefused
from memflow.fingerprint import canonical_json
from memflow.memories.entries import Vector

B = TypeVar("B", bound=BaseModel)

PROMPT = "model_proxy/chat"
"""The name of the prompt of all proxied chat requests, by which the ledger groups their usage."""
UNSENT = ("user", "metadata", "store")
"""The keys of a body, without the fields of `ReceivedChat`, that do not change the answer."""
_PLAIN: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_ROLES: Mapping[str, Role] = {"developer": "system", "tool": "user", "function": "user", **_PLAIN}
_STORED = '{"proxied_answer":'
"""The start of the text of a completion in the ledger for an answer that is more than a text."""
CODES = {"too_long": "context_length_exceeded", "filtered": "content_filter"}
"""OpenAI's codes of errors. Others have the kind of failure that the ledger records."""
FINAL = {"x-should-retry": "false"}
"""The header of errors: memflow has already repeated what may succeed, so OpenAI's clients do not repeat it."""


class Rejection(Exception):
    """The exception for a request that the proxy rejects. The message is for the developer of the server."""

    def __init__(self, message: str, status: int = 400, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class ReceivedMessage(BaseModel, extra="allow"):
    """A message of a body. Its content is a string, a list of typed parts, or missing beside tool calls."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Any] | None = None

    @property
    def text(self) -> str:
        """The text of the content, without other parts."""
        if isinstance(self.content, list):
            parts = (part.get("text") for part in self.content if isinstance(part, dict))
            return "\n".join(part for part in parts if isinstance(part, str))
        return self.content or ""

    def ledger_message(self) -> ChatMessage:
        """Return the message as the ledger stores it: its text, or its JSON if it is more than a text."""
        if self.role in _PLAIN and isinstance(self.content, str) and not self.model_extra:
            return ChatMessage(_PLAIN[self.role], self.content)
        return ChatMessage(_ROLES[self.role], canonical_json(self.model_dump(exclude_unset=True)))


class ReceivedChat(BaseModel, extra="allow"):
    """The body of a chat request."""

    model: str
    messages: list[ReceivedMessage] = Field(min_length=1)
    stream: bool | None = False
    stream_options: dict[str, Any] | None = None
    n: int | None = 1
    temperature: float | None = Field(None, allow_inf_nan=False)
    top_p: float | None = Field(None, allow_inf_nan=False)
    seed: int | None = None
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)

    @property
    def further(self) -> dict[str, Any]:
        """The keys that change the answer and are forwarded as received: tools, response format, stop and others."""
        return {
            key: value
            for key, value in (self.model_extra or {}).items()
            if key not in UNSENT and value is not None
        }

    def request(self, sampling: Sampling, max_tokens: int) -> ChatRequest:
        """Return the request for the ledger. Missing sampling parameters get the given values.

        The digest of a ChatRequest covers messages and sampling, so further keys are a message before the others.
        """
        if self.n not in (None, 1):
            raise Rejection("n is not 1. Send one request per answer.")
        sampled = Sampling(
            temperature=sampling.temperature if self.temperature is None else self.temperature,
            top_p=sampling.top_p if self.top_p is None else self.top_p,
            max_tokens=self.max_completion_tokens or self.max_tokens or max_tokens,
            seed=sampling.seed if self.seed is None else self.seed,
        )
        messages = [message.ledger_message() for message in self.messages]
        if self.further:
            messages.insert(0, ChatMessage("system", f"request parameters: {canonical_json(self.further)}"))
        return ChatRequest(PROMPT, {"chat": self}, tuple(messages), sampled)


class ReceivedEmbeddings(BaseModel, extra="allow"):
    """The body of an embedding request."""

    model: str
    input: str | list[Any]
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: int | None = None

    def texts(self) -> list[str]:
        """Return the texts. Raises Rejection for an empty input or lists of tokens."""
        texts = [self.input] if isinstance(self.input, str) else self.input
        if not texts:
            raise Rejection("the input is empty. Send at least one text.")
        if not all(isinstance(text, str) for text in texts):
            raise Rejection(
                "the input has token ids, which depend on a tokenizer. Send texts (LangChain: "
                "check_embedding_ctx_length=False)."
            )
        return texts


def parsed(kind: type[B], content: bytes) -> B:
    """Return the request of a body. Raises Rejection with the field that is invalid."""
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"])) or "the body"
        raise Rejection(f"{place}: {first['msg']}") from error


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
