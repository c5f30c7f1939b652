"""Chat over an OpenAI-compatible endpoint: the client, and parsing of completions.

request_bodies.py builds requests, endpoint.py sends and repeats them. The cache of completions is in
memflow.chat.ledger. memflow.chat.asking repeats a request if its answer cannot be parsed.
"""

from typing import Any

from memflow.chat.requests import ChatRequest, Completion, Sampling
from memflow.tokens import estimate
from resources.endpoint import Endpoint
from resources.limits import Budget, Prices, Spending
from resources.profiles import Profile
from resources.request_bodies import RequestBodies, printable


class OpenAIChat:
    """A chat model at an endpoint: implements memflow.chat.requests.Chat as an asynchronous context manager.

    `fingerprint` identifies model and sampling. `prices` are used only if the budget limits cost.
    """

    scripted = False

    def __init__(
        self,
        url: str,
        model: str,
        fingerprint: str,
        sampling: Sampling | None = None,
        *,
        key_variable: str = "OPENAI_API_KEY",
        concurrency: int = 64,
        patience: float = 120.0,
        budget: Budget | None = None,
        prices: Prices | None = None,
        endpoint: Endpoint | None = None,
        profile: Profile | None = None,
    ) -> None:
        self.model = model
        self.profile = profile or Profile()
        self.bodies = RequestBodies(self.profile)
        self.fingerprint = fingerprint
        self.sampling = sampling or Sampling()
        self.budget = budget or Budget()
        self.prices = prices or Prices()
        self.endpoint = endpoint or Endpoint(
            url, key_variable=key_variable, concurrency=concurrency, patience=patience
        )

    async def __aenter__(self) -> "OpenAIChat":
        await self.endpoint.__aenter__()
        return self

    async def __aexit__(self, *exit_: object) -> None:
        await self.endpoint.__aexit__(*exit_)

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the model's answer; its text is empty if the server's response has no text.

        Raises PromptTooLong and BudgetSpent before the request is sent, and the errors of Endpoint.post.
        """
        async with self.budget.admit(self._most(request)) as took:
            key = request.digest(self.fingerprint)
            answer, latency = await self.endpoint.post(
                "/chat/completions", self.bodies.build(self.model, request), key
            )
            completion = parse_completion(answer, latency)
            tokens = completion.prompt_tokens + completion.completion_tokens
            cost = self.prices.cost(completion.prompt_tokens, completion.completion_tokens)
            took.append(Spending(1, tokens, cost))
            return completion

    def _most(self, request: ChatRequest) -> Spending:
        if self.budget.tokens is None and self.budget.cost is None:
            return Spending(calls=1)
        prompt_tokens = sum(estimate(message.content) for message in request.messages)
        answer_tokens = self.bodies.max_tokens(request)
        return Spending(1, prompt_tokens + answer_tokens, self.prices.cost(prompt_tokens, answer_tokens))


def parse_completion(answer: dict[str, Any], latency: float) -> Completion:
    """Return the completion in a server's response. Missing text becomes "", missing token counts become 0."""
    choices = answer.get("choices") or [{}]
    usage = answer.get("usage") or {}
    return Completion(
        text=printable((choices[0].get("message") or {}).get("content") or ""),
        finish_reason=choices[0].get("finish_reason") or "stop",
        prompt_tokens=usage.get("prompt_tokens") or 0,
        completion_tokens=usage.get("completion_tokens") or 0,
        cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
        latency_s=latency,
    )
