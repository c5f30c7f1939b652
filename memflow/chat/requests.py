"""Chat requests and completions, and the Chat protocol. resources/ sends and stores requests."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, Protocol
from weakref import WeakKeyDictionary

from pydantic import BaseModel

from memflow.fingerprint import canonical_json, digest, digest_json

Role = Literal["system", "user", "assistant"]
_SCHEMAS: WeakKeyDictionary[type[BaseModel], dict[str, Any]] = WeakKeyDictionary()
"""Cached schemas. A type is narrowed to one user's values, and takes some 100 kB; here it can be freed."""
_DIGESTS: WeakKeyDictionary[type[BaseModel], str] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message of a prompt: its role and text."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """The sampling parameters of a model; None means the server's default."""

    temperature: float = 0.0
    top_p: float | None = None
    max_tokens: int = 1024
    seed: int | None = None


OUTPUT_TOKENS = 8192
"""The bound on an answer whose prompt and role set none: that of AMemGym's published configurations."""


@dataclass(frozen=True, slots=True)
class TokenBound:
    """The bound on the tokens of a role's answers.

    `output` raises the bound of a prompt; None means the prompt's own bound, or OUTPUT_TOKENS. The tokens for thinking
    are added, since servers count them in the same bound.
    """

    output: int | None = None
    thinking: int = 0

    def of(self, prompt_tokens: int | None) -> int:
        """Return the token bound of an answer; `prompt_tokens` is the prompt's own bound, if any."""
        bounds = [tokens for tokens in (self.output, prompt_tokens) if tokens is not None]
        return max(bounds, default=OUTPUT_TOKENS) + self.thinking


def schema_of(output: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of an output type as sent to a model: all properties required, no others allowed."""
    if output not in _SCHEMAS:
        schema = output.model_json_schema()
        for part in (schema, *schema.get("$defs", {}).values()):
            if "properties" in part:
                part["additionalProperties"] = False
                part["required"] = list(part["properties"])
        _SCHEMAS[output] = schema
    return _SCHEMAS[output]


def schema_digest(output: type[BaseModel]) -> str:
    """Return the content hash of an output schema, including its order of fields, in which a model writes them."""
    if output not in _DIGESTS:
        _DIGESTS[output] = digest(json.dumps(schema_of(output)))
    return _DIGESTS[output]


@lru_cache(maxsize=4096)
def _sampling_json(sampling: Sampling) -> str:
    return canonical_json(sampling)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A chat request. The model gets `messages`; only the scripted chat and the ledger use `prompt` and `fields`.

    `attempt` counts from 0 and is part of the request digest, and so is `repeat` from 2 on: the number of an evaluation
    that repeats others with requests of its own. An `optional` request only improves on an answer that exists, so its
    failure is no failure of the caller. A `retry` follows a cut or unusable answer. `usual_tokens` is the length of a
    real model's answers, or 0.
    """

    prompt: str
    fields: Mapping[str, Any]
    messages: tuple[ChatMessage, ...]
    sampling: Sampling = field(default_factory=Sampling)
    output: type[BaseModel] | None = None
    attempt: int = 0
    optional: bool = field(default=False, compare=False)
    retry: bool = field(default=False, compare=False)
    usual_tokens: int = field(default=0, compare=False)
    repeat: int = 1
    _messages_json: str = field(default="", init=False, repr=False, compare=False)
    _digests: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def messages_json(self) -> str:
        """The messages as canonical JSON: a list of [role, content] pairs, cached after the first call."""
        if not self._messages_json:
            pairs = [[message.role, message.content] for message in self.messages]
            object.__setattr__(self, "_messages_json", canonical_json(pairs))
        return self._messages_json

    def of_repeat(self, number: int) -> "ChatRequest":
        """Return the request of an evaluation's repeat, with another seed where a seed is sent; 1 changes nothing."""
        if number == self.repeat:
            return self
        seed = self.sampling.seed
        sampling = self.sampling if seed is None else replace(self.sampling, seed=seed + number - self.repeat)
        return replace(self, sampling=sampling, repeat=number)

    def digest(self, model_fingerprint: str) -> str:
        """Return the request digest, the ledger's key of model, messages, parameters, schema, attempt and repeat."""
        if model_fingerprint not in self._digests:
            schema = None if self.output is None else schema_digest(self.output)
            self._digests[model_fingerprint] = digest_json(
                canonical_json(model_fingerprint),
                self.messages_json,
                _sampling_json(self.sampling),
                canonical_json(schema),
                canonical_json(self.attempt),
                *([canonical_json({"repeat": self.repeat})] if self.repeat > 1 else []),
            )
        return self._digests[model_fingerprint]


End = Literal["answered", "cut", "loop", "blank", "refused", "filtered", "broken"]
"""How a request ended.

`answered`: with a complete text; `cut`: with a text that the token limit ended; `loop`: with one that the limit ended
and that repeats itself (loops.py); `blank`: without a text; `refused`: the model declined; `filtered`: the provider
withheld the text; `broken`: the response is no chat completion. Only the first three are completions; the others are
errors (`memflow.errors.NoAnswer`).
"""


@dataclass(frozen=True, slots=True)
class Completion:
    """A chat completion and its token usage. Latency is in seconds; cached tokens are prefix cache hits.

    `text` contains no reasoning; `completion_tokens` include the `reasoning_tokens`. With `estimated`, the server
    reported no usage, and the token counts are estimates.
    """

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    latency_s: float = 0.0
    digest: str = ""
    end: End = "answered"
    reasoning_tokens: int = 0
    estimated: bool = False

    @property
    def cut(self) -> bool:
        """Whether the token limit ended the text, also that of a loop."""
        return self.end in ("cut", "loop")


class Chat(Protocol):
    """The protocol of a chat model and of its substitutes."""

    fingerprint: str
    """Digest of model, revision and sampling: equal fingerprints mean the same distribution of answers."""
    sampling: Sampling
    """The sampling parameters unless a prompt sets others."""
    bound: TokenBound
    """The bound on answers in the chat's role."""
    scripted: bool
    """True if no language model answers; scores show it."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the completion of `request`. Raises ChatError."""
        ...
