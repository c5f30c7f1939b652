"""What is asked of a chat model and what it answers, and the protocol every chat keeps.

No transport, no retries and no storage here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from memflow.fingerprint import digest

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model samples. None leaves the choice to the server."""

    temperature: float = 0.0
    top_p: float | None = None
    max_tokens: int = 1024
    seed: int | None = None


@lru_cache(maxsize=4096)
def schema_of(output: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of an output type as it is sent: nothing may be added to an object, nothing left out of
    it."""
    schema = output.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            part["additionalProperties"] = False
            part["required"] = list(part["properties"])
    return schema


@lru_cache(maxsize=4096)
def schema_digest(output: type[BaseModel]) -> str:
    """Digest of the schema as it stands: a model writes the fields in their order, so the order counts."""
    return digest(json.dumps(schema_of(output)))


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request: `messages` is all that a model sees; `prompt` and `fields` are for the scripted chat and
    the accounts.

    `attempt` counts from 0; a request asked again is another request, with another digest.
    """

    prompt: str
    fields: Mapping[str, Any]
    messages: tuple[ChatMessage, ...]
    sampling: Sampling = field(default_factory=Sampling)
    output: type[BaseModel] | None = None
    attempt: int = 0

    def digest(self, model_fingerprint: str) -> str:
        """The ledger's key: model, messages, parameters, schema and attempt."""
        said = [[message.role, message.content] for message in self.messages]
        schema = None if self.output is None else schema_digest(self.output)
        return digest(model_fingerprint, said, self.sampling, schema, self.attempt)


@dataclass(frozen=True, slots=True)
class Completion:
    """An answered request. Latency is in seconds; cached tokens are those the server's prefix cache held."""

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    latency_s: float = 0.0
    digest: str = ""


class Chat(Protocol):
    """Whoever answers chat requests."""

    fingerprint: str
    """Digest of model, revision and sampling: the same fingerprint promises the same distribution of
    answers."""
    sampling: Sampling
    """How it samples unless a prompt says otherwise."""
    scripted: bool
    """True where no language model answers; shown wherever its figures show."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer `request`; raise a ChatError where no answer is to be had."""
        ...
