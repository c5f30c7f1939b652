"""Send requests at a fixed concurrency, and summarize rates, latencies and cached tokens."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memflow.chat.conversation import ASSISTANT, EPISODE
from memflow.chat.requests import Chat
from memflow.errors import ChatError, EndpointDown, ModelMisconfigured, QuotaExhausted
from resources.model_bench.mix import MixedRequest

ENDING = (EndpointDown, ModelMisconfigured, QuotaExhausted)
"""Errors that all requests would get."""


@dataclass
class Phase:
    """The requests of one phase of a benchmark: their number, tokens and latencies. Phases of one name are added."""

    name: str
    seconds: float = 0.0
    prompt_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cut: int = 0
    estimated: int = 0
    latencies: list[float] = field(default_factory=list)
    """Seconds of each answered request."""
    failures: Counter[str] = field(default_factory=Counter)
    """The number of failed requests, by reason."""
    first_token: tuple[float, float] = (0.0, 0.0)
    """The seconds to the first token that the server counted, and the number of requests."""

    def __add__(self, other: "Phase") -> "Phase":
        return Phase(
            self.name,
            self.seconds + other.seconds,
            self.prompt_tokens + other.prompt_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cut + other.cut,
            self.estimated + other.estimated,
            self.latencies + other.latencies,
            self.failures + other.failures,
            (self.first_token[0] + other.first_token[0], self.first_token[1] + other.first_token[1]),
        )

    @property
    def requests_per_s(self) -> float:
        """Answered requests per second."""
        return len(self.latencies) / self.seconds if self.seconds else 0.0

    def row(self) -> dict[str, Any]:
        """Return the figures of the phase. Rates and latencies are of answered requests."""
        seconds = self.seconds or float("inf")
        ordered = sorted(self.latencies)
        total, count = self.first_token
        return {
            "phase": self.name,
            "requests": len(ordered),
            "failed": sum(self.failures.values()),
            "seconds": round(self.seconds, 2),
            "requests_per_s": round(self.requests_per_s, 3),
            "prompt_tokens_per_s": round(self.prompt_tokens / seconds, 1),
            "output_tokens_per_s": round(self.output_tokens / seconds, 1),
            "p50_s": percentile(ordered, 50),
            "p90_s": percentile(ordered, 90),
            "p99_s": percentile(ordered, 99),
            "first_token_s": round(total / count, 4) if count else None,
            "prompt_tokens": self.prompt_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "cached_share": round(self.cached_tokens / self.prompt_tokens, 4) if self.prompt_tokens else 0.0,
            "cut": self.cut,
            "estimated": self.estimated,
            "failures": dict(self.failures.most_common(5)),
        }


async def send_requests(
    name: str,
    requests: Sequence[MixedRequest],
    chat_of: Callable[[MixedRequest], Chat],
    concurrency: int,
    *,
    in_conversations: bool = True,
) -> Phase:
    """Send requests in their order, `concurrency` at a time, and return the phase.

    With `in_conversations`, each belongs to its episode, by which one of several servers is chosen. A request waits for
    no other request, unlike those of a run. Raises EndpointDown, ModelMisconfigured and QuotaExhausted.
    """
    phase = Phase(name)
    waiting = iter(requests)

    async def send_next() -> None:
        for each in waiting:  # the iterator is shared, so that requests keep their order
            ASSISTANT.set(each.assistant)
            EPISODE.set(each.episode if in_conversations else "")
            began = time.perf_counter()
            try:
                completion = await chat_of(each).complete(each.request)
            except ENDING:
                raise
            except ChatError as error:
                phase.failures[str(error)[:300]] += 1
                continue
            phase.latencies.append(time.perf_counter() - began)
            phase.prompt_tokens += completion.prompt_tokens
            phase.output_tokens += completion.completion_tokens
            phase.cached_tokens += completion.cached_tokens
            phase.cut += completion.cut
            phase.estimated += completion.estimated

    began = time.perf_counter()
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(requests))):
                group.create_task(send_next())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    phase.seconds = time.perf_counter() - began
    return phase


def percentile(ordered: Sequence[float], share: int) -> float | None:
    """Return the nearest-rank percentile of sorted values; None without values."""
    if not ordered:
        return None
    return round(ordered[max(0, -(-share * len(ordered) // 100) - 1)], 4)


def sum_metric(text: str, names: Iterable[str]) -> tuple[float, ...]:
    """Return the sums of some metrics over all labels in a text of Prometheus's format."""
    sums = dict.fromkeys(names, 0.0)
    for line in text.splitlines():
        name = line.partition("{")[0].partition(" ")[0]
        if name in sums:
            try:
                sums[name] += float(line.rpartition(" ")[2])
            except ValueError:
                continue
    return tuple(sums.values())
