"""ForwardingChat: sends proxied requests to the model's endpoint, with its address, key, profile, limits and budget.

The body is forwarded as received, except the model, the sampling parameters (in the form of the profile) and streaming.
"""

import json
from dataclasses import replace
from typing import Any

from memflow.chat.requests import ChatRequest, Completion
from memflow.errors import RequestRefused
from memflow.resources.endpoints.chat import BLANK_TRIES, OpenAIChat
from memflow.resources.endpoints.profile_advice import misconfiguration
from memflow.resources.endpoints.replies import ChatReply, read_reply
from memflow.resources.model_proxy.bodies import ReceivedChat
from memflow.resources.model_proxy.responses import ProxiedAnswer

UNUSABLE = (401, 403, 404)
"""Statuses with which a server rejects the key or the model of all requests; others may concern one request."""


class ForwardingChat:
    """A chat for requests of `ReceivedChat.request`, on the client of a model at an endpoint."""

    scripted = False

    def __init__(self, inner: OpenAIChat) -> None:
        self.inner = inner
        self.fingerprint = inner.fingerprint
        self.sampling = inner.sampling
        self.bound = inner.bound

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the model's answer as stored in the ledger. Raises the errors of OpenAIChat.complete."""
        body = self._body(request)
        for repetition in range(BLANK_TRIES):
            try:
                reply, answer, completion = await self.inner.send(request, body, repetition, self._read)
            except RequestRefused as error:
                profile, section = self.inner.endpoint.profile, self.inner.section
                if error.status in UNUSABLE:
                    raise misconfiguration(error, section, profile, "") or error from error.__cause__
                raise
            ended = reply.end in ("answered", "cut")
            if answer.tool_calls or (ended and answer.text.strip()):
                end = completion.end if ended else "answered"
                return replace(completion, text=answer.stored(), end=end)
            if reply.end != "blank":
                break
        raise self.inner.no_answer(reply)

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        chat: ReceivedChat = request.fields["chat"]
        messages = [message.model_dump(exclude_unset=True) for message in chat.messages]
        own = self.inner.bodies.parameters(request)
        return {"model": self.inner.model, "messages": messages, **chat.further, **own}

    def _read(self, content: bytes) -> tuple[ChatReply, ProxiedAnswer]:
        """Return the reply, and the answer with its tool calls. Raises BrokenReply and ErrorReply."""
        reply = read_reply(content, self.inner.endpoint.profile)
        redact = self.inner.endpoint.redact
        choice = json.loads(redact(content.decode("utf-8-sig", "replace")), strict=False)["choices"][0]
        calls = choice["message"].get("tool_calls") or []
        # The profile `tool` takes the arguments of a call for the text.
        text = "" if calls and not choice["message"].get("content") else redact(reply.text)
        return reply, ProxiedAnswer(text, calls, choice.get("logprobs"))
