"""Structured completions per second when a run is replayed from the ledger, through ask() and LedgeredChat.

    python bench/ledger_replay.py

The bound is 2,000 per second; the exit code is 1 below it. Each item has a different prompt of 4,000 characters. Per
item: fill the prompt, compute the digest, look up the completion, record its use, parse the answer.
"""

import asyncio
import sys
import tempfile
import time
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from bench.measure import report
from memflow.chat.asking import Answer, ask
from memflow.chat.ledger import LedgeredChat, RecordedChat, RequestContext
from memflow.chat.prompts import parse
from memflow.chat.requests import Chat, ChatRequest, Completion, Sampling
from resources.ledger import SqlLedger

ITEMS = 4000
BOUND = 2000.0


class Reply(BaseModel):
    """A structured answer of typical size."""

    answer: Annotated[int, Field(ge=1, le=10)]
    reasons: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=5)]
    mood: Literal["calm", "glad", "worn"]


TEXT = """---
name: bench/replay
fields: [item, context]
---
# system
Answer by what was said.
# user
$context
Question $item?
"""
PROMPT = replace(parse(TEXT, "memflow.chat", "the bench's prompt"), output=Reply)


class Immediate:
    """A chat that answers immediately, to fill the ledger."""

    fingerprint = "bench"
    sampling = Sampling()
    scripted = True

    async def complete(self, request: ChatRequest) -> Completion:
        """Return a fixed answer."""
        reply = Reply(answer=3, reasons=["because it was said so, and more than once"] * 3, mood="calm")
        return Completion(reply.model_dump_json(), "stop", 1000, 50, 0, 1.0)


async def play(chat: Chat, ledger: SqlLedger) -> list[Answer]:
    """Request every item once. Return the answers."""
    context = "Caroline: I went hiking last week and it was great. " * 80
    ledgered = LedgeredChat(
        chat, ledger, RequestContext(run="bench", stage="answer", role="assistant", model="bench")
    )
    return await asyncio.gather(
        *(ask(ledgered, PROMPT, {"item": f"{number}", "context": context}) for number in range(ITEMS))
    )


def main() -> int:
    """Fill a ledger, replay it, and print the completions per second. Return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/ledger.sqlite"
        with SqlLedger(url) as ledger:
            asyncio.run(play(Immediate(), ledger))
        with SqlLedger(url) as ledger:
            started = time.perf_counter()
            answers = asyncio.run(play(RecordedChat("bench", Sampling(), scripted=True), ledger))
            ledger.flush()
            took = time.perf_counter() - started
        if any(answer.value is None for answer in answers):
            raise SystemExit(
                f"not replayed from the ledger: {next(answer.reason for answer in answers if answer.value is None)}"
            )
    rate = ITEMS / took
    report(
        {"name": "ledger_replay", "value": round(rate, 1), "unit": "completions/s", "peer": BOUND},
        ratio=round(rate / BOUND, 2),
    )
    return 0 if rate >= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
