"""Received chat requests: the parts of their JSON bodies that memflow reads, and the ledger's form of a request.

Everything else in a body is forwarded as received. scripted_answers.py and forwarding.py answer the requests.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memflow.chat.requests import ChatMessage, ChatRequest, Role, Sampling
from memflow.fingerprint import canonical_json

B = TypeVar("B", bound=BaseModel)

PROMPT = "model_proxy/chat"
"""The name of the prompt of all proxied chat requests, by which the ledger groups their usage."""
UNSENT = ("user", "metadata", "store")
"""The keys of a body, without the fields of `ReceivedChat`, that do not change the answer."""
_PLAIN: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_ROLES: Mapping[str, Role] = {"developer": "system", "tool": "user", "function": "user", **_PLAIN}


class Rejection(Exception):
    """The exception for a request that the proxy rejects. The message is for the developer of the server."""

    def __init__(self, message: str, status: int = 400, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class ReceivedMessage(_Open):
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


class ReceivedChat(_Open):
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


class ReceivedEmbeddings(_Open):
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
