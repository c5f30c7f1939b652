"""Chat over an OpenAI-compatible endpoint: converts replies into completions or errors.

request_bodies.py builds requests, replies.py parses replies, endpoint.py sends and repeats requests. The cache of
completions is in memflow.chat.ledger. memflow.chat.asking repeats a request if its answer cannot be parsed.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from memflow.chat.asking import parse_completion
from memflow.chat.budget import Budget, Prices, Spending
from memflow.chat.loops import loop_of
from memflow.chat.requests import ChatRequest, Completion, Sampling, TokenBound
from memflow.errors import NoAnswer, PromptTooLong, RequestRefused
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.profile_advice import ProfileFit
from memflow.resources.endpoints.replies import ChatReply, read_reply
from memflow.resources.endpoints.request_bodies import RequestBodies
from memflow.resources.endpoints.windows import window_in_error
from memflow.tokens import estimate

BLANK_TRIES = 3
"""Maximum number of times that a request is sent while its replies are blank."""


class OpenAIChat:
    """A chat model at an endpoint: implements memflow.chat.requests.Chat as an asynchronous context manager.

    `fingerprint` identifies model, sampling and profile. `prices` are used only if the budget limits cost. `section` is
    the model's table in memflow.toml. `on_window` gets the context window that a refusal states, once.
    """

    scripted = False

    def __init__(
        self,
        url: str,
        model: str,
        fingerprint: str,
        sampling: Sampling | None = None,
        *,
        concurrency: int = 64,
        budget: Budget | None = None,
        prices: Prices | None = None,
        endpoint: Endpoint | None = None,
        section: str = "",
        on_window: Callable[[int], object] = lambda window: None,
    ) -> None:
        self.model = model
        self.fingerprint = fingerprint
        self.sampling = sampling or Sampling()
        self.bound = TokenBound()
        self.budget = budget or Budget()
        self.prices = prices or Prices()
        self.endpoint = endpoint or Endpoint(url, concurrency=concurrency)
        self.bodies = RequestBodies(self.endpoint.profile)
        self.fit = ProfileFit(model, section, self.endpoint.profile)
        self.on_window = on_window

    async def __aenter__(self) -> "OpenAIChat":
        await self.endpoint.__aenter__()
        return self

    async def __aexit__(self, *exit_: object) -> None:
        await self.endpoint.__aexit__(*exit_)

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the model's answer. After a blank reply, the same request is sent again.

        Raises PromptTooLong and BudgetSpent before the request is sent; NoAnswer if the replies are blank, refused or
        filtered; ModelMisconfigured if the server rejects all requests; and the errors of Endpoint.send.
        """

        body = self.bodies.build(self.model, request)
        self.fit.on_request(request)
        for repetition in range(BLANK_TRIES):
            try:
                reply, completion = await self.send(request, body, repetition)
            except PromptTooLong as error:
                raise self._with_window(error) from error.__cause__
            except RequestRefused as error:
                raise self.fit.on_rejection(error, request) from error.__cause__
            self.fit.on_reply(reply, request, self.bodies.max_tokens(request))
            if reply.end != "blank":
                break
        if reply.end in ("answered", "cut"):
            return completion
        raise self.no_answer(reply)

    def _with_window(self, error: PromptTooLong) -> PromptTooLong:
        """Return the error for a refused prompt. The window that it states bounds later requests and runs."""
        window = window_in_error(error.details)
        if window is None or window == self.bodies.window:
            return error
        self.bodies.window = window
        self.on_window(window)
        learned = f"The context window of {self.model}, {window} tokens, is recorded now: rerun, so that it is used."
        return PromptTooLong(f"{str(error).rstrip('.')}. {learned}", error.status, error.details)

    def no_answer(self, reply: ChatReply) -> NoAnswer:
        """Return the error for a reply without an answer."""
        blank = f"{self.model} answered without text {BLANK_TRIES} times"
        reason = {
            "refused": f"{self.model} refused to answer: {reply.note[:500] or '(no reason given)'}",
            "filtered": f"the provider of {self.model} withheld the answer ({reply.note})",
        }.get(reply.end, blank)
        return NoAnswer(reason, "blank" if reason == blank else reply.end)

    async def send(
        self, request: ChatRequest, body: dict[str, Any], repetition: int
    ) -> tuple[ChatReply, Completion]:
        """Return the reply to a request, and the completion.

        The cost of every reply is charged to the budget. Raises the errors of Endpoint.send.
        """
        async with self.budget.admit(self._most_spending(request)) as took:
            key = request.digest(self.fingerprint) + (f"-{repetition}" if repetition else "")
            read = partial(read_reply, profile=self.endpoint.profile)
            received, latency_s = await self.endpoint.send("/chat/completions", read, body, key)
            reply = _with_recovered_text(received, request)
            completion = self._completion_of(reply, request, latency_s)
            cost = self.prices.cost(completion.prompt_tokens, completion.completion_tokens)
            took.append(Spending(1, completion.prompt_tokens + completion.completion_tokens, cost))
        return reply, completion

    def _completion_of(self, reply: ChatReply, request: ChatRequest, latency_s: float) -> Completion:
        """Return the completion of a reply. Token counts that the server does not report are estimated."""
        usage = reply.usage
        thoughts = estimate(reply.thoughts) if reply.thoughts else 0
        loops = reply.end == "cut" and bool(loop_of(reply.text, request.output))
        return Completion(
            text=reply.text,
            finish_reason=reply.finish_reason,
            prompt_tokens=usage.prompt or sum(estimate(message.content) for message in request.messages),
            completion_tokens=usage.completion or estimate(reply.text) + thoughts,
            cached_tokens=usage.cached or 0,
            latency_s=latency_s,
            digest=request.digest(self.fingerprint),
            end="loop" if loops else reply.end,
            reasoning_tokens=thoughts if usage.reasoning is None else usage.reasoning,
            estimated=not (usage.prompt and usage.completion),
        )

    def _most_spending(self, request: ChatRequest) -> Spending:
        """Return the most that a request may spend, which the budget reserves."""
        if self.budget.tokens is None and self.budget.cost is None:
            return Spending(calls=1)
        prompt_tokens = sum(estimate(message.content) for message in request.messages)
        answer_tokens = self.bodies.max_tokens(request)
        return Spending(1, prompt_tokens + answer_tokens, self.prices.cost(prompt_tokens, answer_tokens))


def _with_recovered_text(reply: ChatReply, request: ChatRequest) -> ChatReply:
    """Return a reply with the requested JSON as text, also if only its thoughts contain the JSON.

    Some servers with a reasoning parser return an answer without thoughts as thoughts (vllm#19222), and no text.
    JSON among words is a draft, not an answer.
    """
    thoughts = reply.thoughts.strip()
    has_answer = reply.end not in ("blank", "cut") or reply.text.strip()
    if has_answer or request.output is None or not thoughts.startswith("{"):
        return reply
    if parse_completion(Completion(thoughts), request.output)[0] is None:
        return reply
    return replace(reply, end="answered", text=thoughts, thoughts="")
