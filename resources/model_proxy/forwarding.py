"""ForwardingChat: sends proxied requests to the model's endpoint, with its address, key, profile, limits and budget.

The body is forwarded as received, except the model, the sampling parameters (in the form of the profile) and streaming.
"""

from dataclasses import replace
from typing import Any

from memflow.chat.requests import ChatRequest, Completion
from memflow.errors import RequestRefused
from memflow.resources.endpoints.chat import BLANK_TRIES, OpenAIChat
from memflow.resources.endpoints.profile_advice import OF_ALL_REQUESTS
from memflow.resources.endpoints.replies import ChatReply
from memflow.resources.model_proxy.bodies import ReceivedChat
from memflow.resources.model_proxy.responses import ProxiedAnswer


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
                reply, completion = await self.inner.send(request, body, repetition)
            except RequestRefused as error:
                # Other statuses may concern one request of the memory server.
                if error.status in OF_ALL_REQUESTS:
                    raise self.inner.fit.misfit(str(error)) from error.__cause__
                raise
            answer, ended = _answer_in(reply), reply.end in ("answered", "cut")
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


def _answer_in(reply: ChatReply) -> ProxiedAnswer:
    """Return the answer of a reply, with its tool calls."""
    message = reply.choice["message"]
    sent = message.get("tool_calls")
    calls = [call for call in sent if _is_call(call)] if isinstance(sent, list) else []
    # The profile `tool` takes the arguments of a call for the text.
    text = "" if calls and not message.get("content") else reply.text
    return ProxiedAnswer(text, calls, reply.choice.get("logprobs"))


def _is_call(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    return isinstance(function, dict) and all(
        isinstance(function.get(key), str) for key in ("name", "arguments")
    )
