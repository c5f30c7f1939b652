"""A judge of recorded replies, which sends no request."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Sampling, TokenBound, schema_digest
from memflow.errors import ChatError
from memflow.fingerprint import digest


def request_key(messages: tuple[ChatMessage, ...], schema: str | None, attempt: int) -> str:
    """Return the content hash of what a judge reads: messages, digest of the output schema, and attempt."""
    return digest([[message.role, message.content] for message in messages], schema, attempt)


@dataclass
class RecordedJudge:
    """A judge whose completions are known by `request_key`."""

    completions: Mapping[str, Completion]
    fingerprint: str = "recorded"
    scripted: bool = False
    sampling: Sampling = field(default_factory=Sampling)
    bound: TokenBound = field(default_factory=TokenBound)

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the recorded completion of a request. Raises ChatError if there is none."""
        schema = None if request.output is None else schema_digest(request.output)
        completion = self.completions.get(request_key(request.messages, schema, request.attempt))
        if completion is None:
            raise ChatError("no reply to this request is recorded")
        return completion
