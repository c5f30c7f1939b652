"""Several servers of one model: affinity, loss and return of a server, checks of the model, limits and pauses."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from sleeping_clock import SleepingClock
from stub import Stub, StubBehavior, count_answers
from stub.odd_json import completion

from memflow.chat.conversation import ASSISTANT, EPISODE
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, ServedCompletion
from memflow.errors import ChatError, EndpointDown, ModelMisconfigured, QuotaExhausted
from resources.endpoints import replicas
from resources.endpoints.chat import OpenAIChat
from resources.endpoints.endpoint import Endpoint
from resources.endpoints.profiles import Profile, profile_of


@pytest.fixture(autouse=True)
def _fast_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicas, "FIRST_PROBE_S", 0.05)


def chat_at(urls: Sequence[str], time: SleepingClock | None = None, **more: Any) -> OpenAIChat:
    parts = {} if time is None else {"sleep": time.sleep, "clock": time.clock}
    settings = {
        "patience": 30.0,
        "timeout": 5.0,
        "first_wait": 0.01,
        "chance": random.Random(1),
        "model": "m",
        "setting": "`urls` of model m in memflow.toml",
        **parts,
        **more,
    }
    endpoint = Endpoint(urls[0], other_urls=urls[1:], **settings)
    return OpenAIChat(urls[0], "m", "fingerprint", endpoint=endpoint)


async def complete(chat: OpenAIChat, text: str = "hello", episode: str = "") -> ServedCompletion:
    EPISODE.set(episode)
    answered: Completion = await chat.complete(ChatRequest("test/prompt", {}, (ChatMessage("user", text),)))
    assert isinstance(answered, ServedCompletion)
    return answered


async def play(chat: OpenAIChat, episode: str, rounds: int) -> list[ServedCompletion]:
    return [await complete(chat, f"{episode} {number}", episode) for number in range(rounds)]


@asynccontextmanager
async def stubs(number: int, folder: Path | None = None, **behavior: Any) -> AsyncIterator[list[Stub]]:
    """Yield stub servers of the model m, each with a log of its answers in `folder`."""
    started = []
    try:
        for each in range(number):
            log = {"log": str(folder / f"{each}.jsonl")} if folder is not None else {}
            started.append(await Stub(StubBehavior(model="m", **log, **behavior)).__aenter__())
        yield started
    finally:
        for stub in started:
            await stub.__aexit__()


Handler = Callable[[web.BaseRequest], Any]


@asynccontextmanager
async def server(serve: Handler) -> AsyncIterator[str]:
    """Yield the URL of a server that handles POST requests with `serve`, and has no list of models."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=404) if request.method == "GET" else await serve(request)

    runner = web.ServerRunner(web.Server(handle, access_log=None), shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def said(_: web.BaseRequest) -> web.Response:
    return web.json_response(completion({"content": "An answer."}))


async def test_requests_of_a_conversation_go_to_one_address_with_the_session_header() -> None:
    ASSISTANT.set(("amemgym_base", "full"))
    async with stubs(3, latency=0.01) as servers, chat_at([stub.url for stub in servers]) as chat:
        played = await asyncio.gather(*(play(chat, f"e{number}", 10) for number in range(12)))
        sent = {header["X-Session-ID"] for stub in servers for header in stub.headers}
        of_server = [{header["X-Session-ID"] for header in stub.headers} for stub in servers]
    assert all(len({answer.address for answer in answers}) == 1 for answers in played)
    assert len({answers[0].address for answers in played}) == 3
    assert len(sent) == 12 == sum(map(len, of_server))
    assert all(re.fullmatch("[0-9a-f]{32}", key) for key in sent)


async def test_conversations_of_two_assistants_have_different_keys() -> None:
    async with Stub(StubBehavior(model="m")) as stub, Endpoint(stub.url) as endpoint:
        chat = OpenAIChat(stub.url, "m", "fingerprint", endpoint=endpoint)
        EPISODE.set("e1")
        for assistant in ("full", "full", "none"):
            ASSISTANT.set(("amemgym_base", assistant))
            await chat.complete(ChatRequest("test/prompt", {}, (ChatMessage("user", "hello"),)))
        keys = [header["X-Session-ID"] for header in stub.headers]
    assert keys[0] == keys[1] != keys[2]


async def test_session_header_is_left_out_for_requests_without_conversation_and_by_the_profile() -> None:
    async with stubs(2) as servers:
        urls = [stub.url for stub in servers]
        async with chat_at(urls) as chat:
            await complete(chat)
        async with chat_at(urls, profile=Profile(session=False)) as chat:
            await complete(chat, episode="e1")
        sent = [header for stub in servers for header in stub.headers]
    assert len(sent) == 2 and not any("X-Session-ID" in header for header in sent)
    assert not profile_of("plain").session
    assert Profile(session=False).digest() == Profile().digest()


async def test_requests_without_a_conversation_are_spread_over_all_addresses() -> None:
    async with stubs(3, latency=0.02) as servers, chat_at([stub.url for stub in servers]) as chat:
        await asyncio.gather(*(complete(chat, f"{number}") for number in range(90)))
        assert all(28 <= stub.counts.asked <= 32 for stub in servers)


async def test_each_address_has_its_own_limit_of_concurrent_requests() -> None:
    async with (
        stubs(3, latency=0.02) as servers,
        chat_at([stub.url for stub in servers], concurrency=4) as chat,
    ):
        await asyncio.gather(*(play(chat, f"e{number}", 3) for number in range(40)))
        assert [stub.counts.most_in_flight for stub in servers] == [4, 4, 4]


async def test_lost_address_loses_no_request_and_is_used_again_when_it_returns(tmp_path: Path) -> None:
    """Of three servers, one ends with requests in flight, and a server at the same address starts later."""
    async with stubs(3, tmp_path, latency=0.01) as servers:
        urls = [stub.url for stub in servers]
        async with chat_at(urls, concurrency=8) as chat:
            ended = asyncio.Event()

            async def play_on(episode: str) -> list[ServedCompletion]:
                played = await play(chat, episode, 20)
                while not ended.is_set():
                    played.append(await complete(chat, f"{episode} {len(played)}", episode))
                return played

            load = asyncio.gather(*(play_on(f"e{number}") for number in range(24)))
            while servers[0].counts.answered < 20 or not servers[0].counts.in_flight:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            await servers[0].__aexit__()
            while servers[1].counts.asked + servers[2].counts.asked < 300:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            servers[0] = await Stub(
                StubBehavior(model="m", port=servers[0].port, log=servers[0].behavior.log, latency=0.01)
            ).__aenter__()
            async with asyncio.timeout(60):
                while servers[0].counts.answered < 20:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            ended.set()
            played = await load
    answers = sum((count_answers(tmp_path / f"{number}.jsonl") for number in range(3)), Counter[str]())
    assert len(answers) == sum(map(len, played))
    assert set(answers.values()) == {1}
    failed = Counter(address for episode in played for answer in episode for address in answer.failed_at)
    assert set(failed) == {urls[0]} and 1 <= failed[urls[0]] < 24


async def test_move_to_another_address_takes_no_wait_and_no_patience() -> None:
    time = SleepingClock()
    async with stubs(3) as servers:
        urls = [stub.url for stub in servers]
        async with chat_at(urls, time, patience=0.001, tries=2) as chat:
            await complete(chat)
            await servers[0].__aexit__()
            await servers[2].__aexit__()
            answers = [await complete(chat, f"{number}", f"e{number}") for number in range(20)]
    assert {answer.address for answer in answers} == {urls[1]}
    assert time.slept == []
    assert sum(len(answer.failed_at) for answer in answers) == 2


async def test_endpoint_down_is_raised_if_all_addresses_are_down_and_names_them() -> None:
    async with stubs(2) as servers:
        urls = [stub.url for stub in servers]
    async with chat_at(urls, SleepingClock(), patience=20) as chat:
        with pytest.raises(EndpointDown, match="Start a server or fix `urls` of model m") as caught:
            await complete(chat)
    assert all(url in str(caught.value) for url in urls)
    assert set(caught.value.failed_at) == set(urls)


async def test_requests_wait_for_the_first_address_that_returns_if_all_are_down() -> None:
    async with stubs(2) as servers:
        urls = [stub.url for stub in servers]
        async with chat_at(urls, first_wait=0.1) as chat:
            await complete(chat)
            for stub in servers:
                await stub.__aexit__()
            waiting = asyncio.gather(*(complete(chat, f"{number}", f"e{number}") for number in range(10)))
            await asyncio.sleep(0.3)
            assert not waiting.done()
            async with Stub(StubBehavior(model="m", port=servers[1].port)) as returned:
                assert {answer.address for answer in await waiting} == {urls[1]}
                assert returned.counts.answered == 10


async def test_address_that_lists_another_model_is_refused_before_the_first_request() -> None:
    async with stubs(1) as (right,), Stub(StubBehavior(model="other")) as wrong:
        async with chat_at([right.url, wrong.url]) as chat:
            for _ in range(2):
                with pytest.raises(ModelMisconfigured, match=r"serves other, but not 'm'.*`urls` of model m"):
                    await complete(chat)
        assert right.counts.asked == wrong.counts.asked == 0


async def test_address_without_a_list_of_models_is_accepted() -> None:
    async with stubs(1) as (stub,), server(said) as other, chat_at([stub.url, other]) as chat:
        answers = [await complete(chat, f"{number}") for number in range(4)]
    assert {answer.address for answer in answers} == {stub.url, other}


async def test_address_that_returns_with_another_model_is_not_used(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with stubs(2) as servers:
        urls = [stub.url for stub in servers]
        async with chat_at(urls) as chat:
            await servers[0].__aexit__()
            await asyncio.gather(*(complete(chat, f"{number}") for number in range(4)))
            async with Stub(StubBehavior(model="other", port=servers[0].port)) as other:
                for number in range(30):
                    await complete(chat, f"later {number}")
                    await asyncio.sleep(0.01)
                assert other.counts.asked == 0
    assert "does not serve 'm'; it is not used" in caplog.text


async def test_conversation_moves_on_while_its_address_asks_to_wait() -> None:
    time = SleepingClock()

    async def limited(_: web.BaseRequest) -> web.Response:
        return web.json_response({"error": {"message": "no"}}, status=429, headers={"Retry-After": "600"})

    async with stubs(1) as (stub,), server(limited) as other, chat_at([other, stub.url], time) as chat:
        answers = [await complete(chat, f"{number}", f"e{number}") for number in range(10)]
    assert {answer.address for answer in answers} == {stub.url}
    assert time.now < 1
    assert sum(len(answer.failed_at) for answer in answers) == 1


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "86400"}], ids=["quota", "longest_pause"])
async def test_address_without_quota_is_set_aside_until_all_are_without(
    headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    exhausted, sent = set[str](), Counter[str]()

    def limited(name: str) -> Handler:
        async def serve(request: web.BaseRequest) -> web.Response:
            sent[name] += 1
            if name not in exhausted:
                return await said(request)
            kind = "limit" if headers else "insufficient_quota"
            return web.json_response({"error": {"message": "no", "code": kind}}, status=429, headers=headers)

        return serve

    time = SleepingClock()
    async with (
        server(limited("one")) as one,
        server(limited("two")) as two,
        chat_at([one, two], time) as chat,
    ):
        await asyncio.gather(*(complete(chat, f"before {number}") for number in range(8)))
        assert set(sent) == {"one", "two"}
        exhausted.add("one")
        sent.clear()
        answers = [await complete(chat, f"{number}", f"e{number}") for number in range(10)]
        assert {answer.address for answer in answers} == {two} and sent["one"] == 1
        assert sum(len(answer.failed_at) for answer in answers) == 1 and time.now < 1
        assert f"{one} is no longer used" in caplog.text
        exhausted.add("two")
        with pytest.raises(QuotaExhausted):
            await complete(chat, "last")
    assert sent == {"one": 1, "two": 11}


async def test_waiting_requests_leave_an_address_without_quota() -> None:
    sent = Counter[str]()

    async def exhausted(_: web.BaseRequest) -> web.Response:
        sent["exhausted"] += 1
        await asyncio.sleep(0.05)  # the others wait meanwhile
        error = {"message": "no", "code": "insufficient_quota"}
        return web.json_response({"error": error}, status=429)

    async with (
        server(exhausted) as one,
        server(said) as two,
        chat_at([one, two], concurrency=4) as chat,
    ):
        answers = await asyncio.gather(*(complete(chat, f"{number}", f"e{number}") for number in range(40)))
    assert {answer.address for answer in answers} == {two}
    assert sent["exhausted"] == 4


async def test_server_error_is_repeated_at_another_address() -> None:
    async def broken(_: web.BaseRequest) -> web.Response:
        return web.json_response({"error": {"message": "engine dead"}}, status=500)

    async with (
        stubs(1) as (stub,),
        server(broken) as other,
        chat_at([other, stub.url], SleepingClock(), tries=2) as chat,
    ):
        answers = [await complete(chat, f"{number}", f"e{number}") for number in range(10)]
    assert {answer.address for answer in answers} == {stub.url}


async def test_server_that_hangs_is_marked_as_down_after_the_timeout() -> None:
    released = asyncio.Event()

    async def hang(_: web.BaseRequest) -> web.Response:
        await released.wait()
        return await said(_)

    async with (
        stubs(1) as (stub,),
        server(hang) as other,
        chat_at([other, stub.url], timeout=0.3) as chat,
    ):
        began = asyncio.get_running_loop().time()
        answers = await asyncio.gather(*(complete(chat, f"{number}", f"e{number}") for number in range(10)))
        seconds = asyncio.get_running_loop().time() - began
        released.set()
    assert {answer.address for answer in answers} == {stub.url}
    assert seconds < 2


async def test_request_that_every_server_resets_fails_alone() -> None:
    name = "connection: reset in the body"
    async with (
        stubs(2, odd=1e-9) as servers,
        chat_at([stub.url for stub in servers], SleepingClock(), tries=4) as chat,
    ):
        with pytest.raises(ChatError, match="kept failing") as caught:
            await complete(chat, f"odd response: {name}")
        assert not isinstance(caught.value, EndpointDown)
        assert (await complete(chat)).text


async def test_single_address_reports_no_address_and_requests_no_list_of_models() -> None:
    paths = []

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        paths.append((request.method, request.path))
        return await said(request)

    runner = web.ServerRunner(web.Server(handle, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    async with chat_at([url]) as chat:
        answer = await chat.complete(ChatRequest("test/prompt", {}, (ChatMessage("user", "hello"),)))
    await runner.cleanup()
    assert type(answer) is Completion
    assert paths == [("POST", "/v1/chat/completions")]


async def test_lost_connection_of_a_server_that_responds_is_not_reported_as_down(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Servers close idle connections, sometimes while a request is sent."""
    lost = []

    async def lose_first(request: web.BaseRequest) -> web.StreamResponse:
        if not lost:
            lost.append(request)
            assert request.transport is not None
            request.transport.abort()
        return await said(request)

    async with stubs(1) as (stub,), server(lose_first) as other, chat_at([other, stub.url]) as chat:
        answers = []
        for number in range(20):
            answers.append(await complete(chat, f"{number}", f"e{number}"))
            await asyncio.sleep(0.001)
    assert lost and sum(len(answer.failed_at) for answer in answers) == 1
    assert {answer.address for answer in answers[-10:]} == {stub.url, other}
    assert not caplog.records
