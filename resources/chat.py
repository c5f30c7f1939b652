"""Chat over an OpenAI-compatible endpoint: request bodies, and parsing of completions.

Retries and errors are in endpoint.py, the cache of completions is in memflow.chat.ledger. memflow.chat.asking repeats a
request if its answer cannot be parsed.
"""

import re
from typing import Any

from pydantic import BaseModel

from memflow.chat.requests import ChatRequest, Completion, Sampling, TokenBound, schema_of
from memflow.tokens import estimate
from resources.endpoint import Endpoint
from resources.limits import Budget, Prices, Spending

_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


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
    ) -> None:
        self.model = model
        self.fingerprint = fingerprint
        self.sampling = sampling or Sampling()
        self.bound = TokenBound()
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

        Raises BudgetSpent before the request is sent, and the errors of Endpoint.post.
        """
        async with self.budget.admit(self._most(request)) as took:
            key = request.digest(self.fingerprint)
            answer, latency = await self.endpoint.post(
                "/chat/completions", request_body(self.model, request), key
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
        answer_tokens = request.sampling.max_tokens
        return Spending(1, prompt_tokens + answer_tokens, self.prices.cost(prompt_tokens, answer_tokens))


def request_body(model: str, request: ChatRequest) -> dict[str, Any]:
    """Return the JSON body of a request, without unset sampling parameters."""
    sampling = request.sampling
    sent: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": message.role, "content": _printable(message.content)} for message in request.messages
        ],
        "temperature": sampling.temperature,
        "max_tokens": sampling.max_tokens,
    }
    if sampling.top_p is not None:
        sent["top_p"] = sampling.top_p
    if sampling.seed is not None:
        sent["seed"] = sampling.seed
    if request.output is not None:
        sent["response_format"] = _response_format(request.output)
    return sent


def parse_completion(answer: dict[str, Any], latency: float) -> Completion:
    """Return the completion in a server's response. Missing text becomes "", missing token counts become 0."""
    choices = answer.get("choices") or [{}]
    usage = answer.get("usage") or {}
    finish_reason = choices[0].get("finish_reason") or "stop"
    return Completion(
        text=_printable((choices[0].get("message") or {}).get("content") or ""),
        finish_reason=finish_reason,
        prompt_tokens=usage.get("prompt_tokens") or 0,
        completion_tokens=usage.get("completion_tokens") or 0,
        cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
        latency_s=latency,
        end="cut" if finish_reason == "length" else "answered",
    )


def _printable(text: str) -> str:
    """Return the text without characters (lone surrogates, NUL) that JSON servers or PostgreSQL reject."""
    if text.isascii() and "\0" not in text:  # ten times faster than the pattern
        return text
    return _UNWRITABLE.sub("\ufffd", text)


def _response_format(output: type[BaseModel]) -> dict[str, Any]:
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", output.__name__)[:64]
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema_of(output)}}
