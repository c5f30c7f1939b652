"""The ledger on SQLite and PostgreSQL: the client's rate with it, the replay of completions, and concurrent writers.

    python -m bench.ledger [--profile]

* `ledger_client`: requests per second at 256 connections to a stub with 50 ms latency, against the same client without a
  ledger in the same run. Bound: 0.9.
* `ledger_replay`: recorded completions per second, against one statement for each lookup and each use, as former
  versions did. Bound: 10,000 per second, or 4 times as many.
* `ledger_writers`: completions per second of 8 processes that write to one ledger, a third of them the same. Bound: none
  is lost, none is stored or counted twice.

Prompts have 6,000 characters. PostgreSQL is measured if it is installed. Rounds alternate; the best one of each counts.
"""

import asyncio
import random
import time
from collections.abc import Callable

from bench.measure import request_context
from memflow.chat.requests import Chat, ChatMessage, ChatRequest, Sampling

REQUESTS, CONCURRENCY, LATENCY = 4000, 256, 0.05
WRITERS, OWN, SHARED = 8, 400, 200
CLIENT_BOUND, REPLAY_BOUND, REPLAY_PEER_BOUND = 0.9, 10_000, 4.0
ACCOUNT = request_context("bench", "bench", "answer")
TEXT = "".join(random.Random(0).choices("abcdefghij klmnop qrstuv", k=6000))

Urls = Callable[[], str]
"""Returns the URL of a new, empty ledger."""


def build_request(number: int | str) -> ChatRequest:
    """Return a request that differs from all others."""
    text = f"{number} {TEXT}"
    return ChatRequest("bench/ledger", {}, (ChatMessage("user", text),), Sampling(max_tokens=64))


async def complete_all(chat: Chat) -> float:
    """Send all requests at once. Return the number of requests per second."""
    requests = [build_request(number) for number in range(REQUESTS)]
    began = time.perf_counter()
    await asyncio.gather(*(chat.complete(request) for request in requests))
    return REQUESTS / (time.perf_counter() - began)
