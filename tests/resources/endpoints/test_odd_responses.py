"""Odd responses of a server: each request ends with an answer or a ChatError, and only answers enter the ledger."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path

from stub import Stub, StubBehavior
from stub.odd_responses import odd_responses

from memflow.chat.ledger import LedgeredChat, RequestContext
from memflow.chat.requests import Chat, ChatMessage, ChatRequest, Sampling
from memflow.errors import ChatError, NoAnswer
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.ledger.sql_ledger import SqlLedger

ANSWERS = ("answered", "cut")


def chat_at(url: str, timeout: float) -> OpenAIChat:
    endpoint = Endpoint(
        url,
        "MEMFLOW_TEST_KEY",
        concurrency=16,
        patience=0.4,
        longest_pause=0.3,
        tries=2,
        timeout=timeout,
        response_bytes=4_000_000,
    )
    return OpenAIChat(url, "stub", "fingerprint", Sampling(max_tokens=64), endpoint=endpoint)


def request(name: str) -> ChatRequest:
    # A prompt each: the meaning of a rejection depends on whether the server accepted the prompt before.
    return ChatRequest(f"test/{name}", {}, (ChatMessage("user", f"odd response: {name}"),))


async def outcome(chat: Chat, name: str) -> str:
    """Return the end of a request, or the name of its exception; other exceptions than ChatError fail the test."""
    try:
        return (await chat.complete(request(name))).end
    except NoAnswer as error:
        return error.end
    except ChatError as error:
        return type(error).__name__


async def outcomes(chat: Chat, names: Sequence[str]) -> dict[str, str]:
    found = await asyncio.gather(*(outcome(chat, name) for name in names))
    return dict(zip(names, found, strict=True))


async def test_client_reports_outcome_of_every_odd_response_and_stores_only_answers(tmp_path: Path) -> None:
    expected = {name: each.outcome for name, each in odd_responses().items()}
    assert len(expected) >= 300
    endless = [
        name
        for name, each in odd_responses().items()
        if each.ending == "stay open" or each.pause >= 1 or isinstance(each.parts, repeat)
    ]
    with SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite") as ledger:
        async with (
            Stub(StubBehavior(odd=1e-9)) as stub,
            chat_at(stub.url, 60.0) as inner,
            chat_at(stub.url, 1.0) as impatient,
        ):
            chat = LedgeredChat(inner, ledger, RequestContext(run="first"))
            hasty = LedgeredChat(impatient, ledger, RequestContext(run="first"))
            assert {
                **await outcomes(hasty, endless),
                **await outcomes(chat, [name for name in expected if name not in endless]),
            } == expected
            ledger.flush()
            answered = {name for name, end in expected.items() if end in ANSWERS}
            assert ledger.digests() == {request(name).digest(inner.fingerprint) for name in answered}
            for name in answered:
                completion = await chat.complete(request(name))
                assert completion.text or completion.end == "cut", name
                assert 0 < completion.prompt_tokens < 2**31 and 0 <= completion.completion_tokens < 2**31, (
                    name
                )
                assert "\0" not in completion.text and "Hm." not in completion.text, name

            stub.behavior, asked = replace(stub.behavior, odd=0.0), stub.counts.asked
            repaired = await outcomes(chat, list(expected))
            assert {name: end for name, end in repaired.items() if end != "answered"} == {
                name: "cut" for name in answered if expected[name] == "cut"
            }
            assert stub.counts.asked - asked == len(expected) - len(answered)
            assert await outcomes(chat, list(expected)) == repaired
            assert stub.counts.asked - asked == len(expected) - len(answered)
