"""The contract of Add and Search: served by memflow, called by memflow, and both with each other."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from echo_servers import sent
from generated import generate
from local_server import local_server
from server_evaluation import evaluated, server_memory

from memflow.errors import BadInput, ServerDown, ServerFailed
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import find, shipped_systems
from memflow.resources.memory_servers import aml_transport
from memflow.resources.memory_servers.aml import date_of, milliseconds
from memflow.resources.memory_servers.aml_journal import Journal
from memflow.resources.memory_servers.aml_server import AmlServer, running_server
from memflow.resources.memory_servers.aml_transport import AmlTransport
from memflow.resources.memory_servers.connection import ServerConnection

SESSION = {
    "request_id": "r-1",
    "user_id": "u-1",
    "session_id": "s-1",
    "messages": [
        {"role": "user", "content": "I moved to Bonn in May.", "timestamp": 1715000000000},
        {"role": "assistant", "content": [{"type": "text", "text": "Noted."}], "timestamp": 1715000001000},
    ],
}
ANSWER = {"success": True, "request_id": "r-1", "user_id": "u-1", "session_id": "s-1"}
SEARCH = {"query": "Which city did I move to, Bonn?", "user_id": "u-1", "top_k": 100}
KEY = "a secret key"


@asynccontextmanager
async def served(folder: Path, name: str = "bm25_message", **more: Any) -> AsyncIterator[str]:
    """Serve a memory on a journal in `folder`, and yield its address."""
    create = find(name).factory(Tools(embedder=HashingEmbedder()))
    journal = Journal(folder / "served.sqlite")
    try:
        async with running_server(AmlServer(create, journal), 0, **more) as url:
            yield url
    finally:
        journal.close()


async def post(url: str, body: Any, **headers: str) -> tuple[int, Any]:
    """Return the status and the JSON of a response."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **headers}
    async with aiohttp.ClientSession() as session, session.post(url, data=data, headers=headers) as response:
        return response.status, await response.json()


def connection(url: str) -> ServerConnection:
    return ServerConnection("mine", AmlTransport(url, setting="its address"))


async def test_served_memory_answers_as_the_contract_says(tmp_path: Path) -> None:
    async with served(tmp_path) as url:
        async with aiohttp.ClientSession() as session, session.get(f"{url}/health") as response:
            assert await response.text() == '{"ok": true}'
        for _ in range(2):  # the same request twice is stored once
            assert await post(f"{url}/add", SESSION) == (200, ANSWER)
        status, found = await post(f"{url}/search", {**SEARCH, "options": {"choices": ["Noted"]}})
        assert (status, [*found]) == (200, ["data"])
        assert found["data"][0] == {
            "id": "message-0",
            "content": "[2024-05-06 12:53:20] user: I moved to Bonn in May.",
            "created_at": "2024-05-06T12:53:20Z",
        }
        assert await post(f"{url}/search", {**SEARCH, "top_k": 1}) == (200, {"data": found["data"][:1]})
        assert await post(f"{url}/search", {**SEARCH, "user_id": "nobody"}) == (200, {"data": []})
        status, refusal = await post(f"{url}/add", {**SESSION, "session_id": "s-2"})
        assert status == 409 and "'r-1' has another content" in refusal["error"]


async def test_users_and_sessions_are_kept_apart_and_newest_first_without_a_ranking(tmp_path: Path) -> None:
    async with served(tmp_path, "recent") as url:
        for user, request, word in (("a", "1", "apple"), ("b", "1", "pear"), ("a", "2", "fig")):
            add = {**SESSION, "user_id": user, "request_id": request}
            await post(f"{url}/add", {**add, "messages": [{"role": "user", "content": word}]})
        _, found = await post(f"{url}/search", {**SEARCH, "user_id": "a", "top_k": 1})
        assert [row["content"] for row in found["data"]] == ["user: fig"]
        _, found = await post(f"{url}/search", {**SEARCH, "user_id": "b"})
        assert [row["content"] for row in found["data"]] == ["user: pear"]


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "why"),
    [
        ("/add", {**SESSION, "messages": [{"role": "system", "content": "x"}]}, {}, 400, "messages.0.role"),
        (
            "/add",
            {**SESSION, "messages": [{"role": "user", "content": [{"type": "image"}]}]},
            {},
            400,
            "content",
        ),
        ("/search", {**SEARCH, "top_k": 0}, {}, 400, "top_k"),
        ("/search", b"[", {}, 400, "Invalid JSON"),
        ("/reset", {}, {}, 404, "POST /add and POST /search"),
        ("/search", SEARCH, {"Host": "evil.example"}, 403, "does not answer as evil.example"),
        ("/search", SEARCH, {"Content-Type": "text/plain"}, 415, "has to be JSON"),
        ("/search", SEARCH, {"X-Api-Key": "another"}, 401, "the key is wrong"),
    ],
)
async def test_invalid_request_is_refused_with_a_sentence(
    tmp_path: Path, path: str, body: Any, headers: dict[str, str], status: int, why: str
) -> None:
    async with served(tmp_path, key=KEY) as url:
        keys = {} if "X-Api-Key" in headers else {"Authorization": f"Bearer {KEY}"}
        found, refusal = await post(url + path, body, **{**keys, **headers})
        assert found == status and why in refusal["error"]


async def test_key_is_accepted_in_three_forms_and_other_hosts_by_name(tmp_path: Path) -> None:
    async with served(tmp_path, key=KEY, hosts=["memory.example"]) as url:
        for headers in (
            {"Authorization": f"Bearer {KEY}"},
            {"Authorization": f"Token {KEY}"},
            {"X-Api-Key": KEY},
        ):
            assert (await post(f"{url}/search", SEARCH, Host="memory.example", **headers))[0] == 200


def test_added_sessions_are_found_after_a_kill(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "memflow.cli", "memories", "serve", "bm25_message", "--port", "0"]
    environment = {**os.environ, "MEMFLOW_HOME": str(tmp_path)}

    def run(*requests: tuple[str, Any]) -> list[Any]:
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                url = process.stderr.readline().partition(" at ")[2].split()[0]
                answers = [asyncio.run(post(url + path, body)) for path, body in requests]
                os.kill(process.pid, signal.SIGKILL)
                return answers
            finally:
                process.kill()

    assert run(("/add", SESSION)) == [(200, ANSWER)]
    (_, found), again = run(("/search", SEARCH), ("/add", SESSION))
    assert [row["created_at"] for row in found["data"]][:1] == ["2024-05-06T12:53:20Z"] and again == (
        200,
        ANSWER,
    )


async def test_failed_write_is_not_stored_and_a_second_server_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as url:
        with pytest.raises(BadInput, match="Stop the other server"):
            Journal(tmp_path / "served.sqlite")
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "append", lambda *_: (_ for _ in ()).throw(BadInput("the disk is full")))
            assert await post(f"{url}/add", SESSION) == (503, {"error": "the disk is full"})
        assert await post(f"{url}/search", SEARCH) == (200, {"data": []})
        await post(f"{url}/add", SESSION)
        _, found = await post(f"{url}/search", SEARCH)
        assert len({row["content"] for row in found["data"]}) == len(found["data"]) > 0


def recalled(tables: dict[str, list[Any]]) -> list[list[str]]:
    """Return the texts that each reply recalled, without dates."""
    texts = {
        (row.episode_id, row.entry_id): re.sub(r"^\[[\d: -]+\] ", "", row.text)
        for row in tables["memory.indexes"]
    }
    return [
        sorted(texts[reply.episode_id, entry] for entry in reply.recalled)
        for reply in tables["answer.replies"]
    ]


WITHOUT_CHAT = [
    system.default_name
    for system in shipped_systems()
    if system.memory.needs_playing and not system.needs_chat and not system.missing_requirement
]


@pytest.mark.parametrize(
    ("domain", "name"),
    [
        *(("dialogues_demo", name) for name in WITHOUT_CHAT),
        ("amemgym_demo", "bm25_message"),
        ("amemgym_demo", "recent"),
    ],
)
def test_served_memory_recalls_what_it_recalls_in_a_direct_run(
    tmp_path: Path, domain: str, name: str
) -> None:
    generated, steps = generate(domain), {"memories", "replies"}

    async def called() -> dict[str, list[Any]]:
        async with served(tmp_path, name) as url:
            server = connection(url)
            tables = await evaluated(generated, server_memory(k=10_000), server, steps=steps)
            await server.stop()
            return tables

    direct = recalled(asyncio.run(evaluated(generated, find(name), steps=steps)))
    assert recalled(asyncio.run(called())) == direct and any(text for texts in direct for text in texts)


Respond = Callable[[str, dict[str, Any]], web.Response]


@asynccontextmanager
async def endpoint(respond: Respond) -> AsyncIterator[tuple[str, list[tuple[str, Any]]]]:
    """Run an endpoint that is healthy, and yield its address and the list of its requests."""
    requests = list[tuple[str, Any]]()

    async def handle(request: web.BaseRequest) -> web.Response:
        body = await request.json() if request.method == "POST" else None
        requests.append((request.path.removeprefix("/v1"), body))
        if body is None:
            return web.json_response({"ok": True})
        return respond(requests[-1][0], body)

    async with local_server(handle) as url:
        yield url, requests


def stored(path: str, body: dict[str, Any]) -> web.Response:
    """Answer an Add as the contract does, and a Search with one memory."""
    if path == "/add":
        names = {name: body[name] for name in ("request_id", "user_id", "session_id")}
        return web.json_response({"success": True, **names})
    row = {
        "id": 7,
        "content": "I moved to Bonn.",
        "score": 0.87,
        "created_at": "2024-05-06T12:53:20Z",
        "new": 1,
    }
    return web.json_response({"data": [row]})


async def test_called_endpoint_gets_the_requests_of_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    async with endpoint(stored) as (url, requests):
        server = connection(url)
        assert (await server.hello()).can.dates
        await server.reset("a")
        message = sent(1, "I moved to Bonn in May.")
        messages = [
            message.model_copy(update={"sent_at": "2024-05-06 12:53:20"}),
            message.model_copy(update={"sent_at": "the first session", "speaker": "Ann"}),
        ]
        await server.write("a", 1, messages)
        [item] = (await server.read("a", "Where?", 100)).items
        assert (item.id, item.text, item.sent_at) == ("7", "I moved to Bonn.", "2024-05-06 12:53:20")
        await server.reset("a")
        await server.write("a", 1, [message])
        await server.stop()
    (_, add), (path, search), (_, again) = requests[1:]
    assert (path, [*search]) == ("/search", ["query", "user_id", "top_k"])
    assert [*add] == [*SESSION] and add["messages"] == [
        {"role": "user", "content": "I moved to Bonn in May.", "timestamp": 1715000000000},
        {"role": "user", "content": "[the first session] Ann: I moved to Bonn in May."},
    ]
    assert add["user_id"] != again["user_id"]  # a reset is a new user, since the contract has none


def rows(*scores: float | None, **more: Any) -> web.Response:
    data = [{"id": f"m-{n}", "content": "x", "score": score, **more} for n, score in enumerate(scores)]
    return web.json_response({"data": data})


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (lambda: rows(0.1, 0.9), "the score 0.1 before 0.9, and the best memory has to be first"),
        (lambda: rows(None, None, id="m"), "the memory 'm' twice"),
        (lambda: rows(*[0.5] * 6), "answered 6 items although k is 5"),
        (lambda: rows(1, content=None), "invalid `data.0.content"),
        (lambda: web.Response(text="<html>"), "not JSON: '<html>'"),
        (lambda: web.json_response([]), "not an object"),
        (lambda: web.Response(status=404, text="?"), "HTTP status 404 for /search: '\\?'"),
    ],
)
async def test_invalid_answer_to_a_search_is_a_sentence(
    response: Callable[[], web.Response], message: str
) -> None:
    async with endpoint(lambda path, body: response()) as (url, _):
        server = connection(url)
        await server.reset("a")
        with pytest.raises(ServerFailed, match=f"the memory server mine failed at read: it .*{message}"):
            await server.read("a", "Where?", 5)
        await server.stop()


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (web.json_response({"success": False}), "invalid `success`"),
        (web.json_response({**ANSWER}), "for the request 'r-1' of the user 'u-1'"),
        (web.json_response({}, status=202), "HTTP status 202 for /add.*answer 200 as soon as it can"),
    ],
)
async def test_add_that_is_not_confirmed_is_a_sentence(response: web.Response, message: str) -> None:
    async with endpoint(lambda path, body: response) as (url, _):
        server = connection(url)
        await server.reset("a")
        with pytest.raises(ServerFailed, match=message):
            await server.write("a", 1, [sent(1, "x")])
        await server.stop()


@pytest.mark.parametrize("status", [429, 500, 524])
async def test_add_is_repeated_until_it_succeeds_or_the_step_ends(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aml_transport, "PAUSE_S", 0)
    pauses, failures = list[float](), [2]

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    def respond(path: str, body: dict[str, Any]) -> web.Response:
        failures[0] -= 1
        if failures[0] >= 0:
            return web.json_response({"error": "slow down"}, status=status, headers={"Retry-After": "90"})
        return stored(path, body)

    monkeypatch.setattr(aml_transport.asyncio, "sleep", sleep)
    async with endpoint(respond) as (url, requests):
        server = connection(url)
        await server.reset("a")
        await server.write("a", 1, [sent(1, "x")])
        assert pauses == [60, 60] and len({json.dumps(body) for _, body in requests[1:]}) == 1
        failures[0] = 1000
        with pytest.raises(
            ServerDown, match=rf"HTTP status {status} for /add: .*in 8 attempts\. Fix the server"
        ):
            await server.write("a", 2, [sent(2, "x")])
        count = len(requests)
        with pytest.raises(ServerDown):  # the step ends: no further request waits as long
            await server.read("a", "x", 5)
        assert len(requests) == count
        await server.stop()


@pytest.mark.parametrize(
    ("date", "text"),
    [
        ("2020-09-29 20:41:16", "2020-09-29 20:41:16"),
        ("2024-02-11", "2024-02-11"),
        ("1:56 pm on 8 May, 2023", "2023-05-08 13:56"),
        ("2023/05/20 (Sat) 02:21", "2023-05-20 02:21"),
        ("2024-05-06T14:53:20+02:00", "2024-05-06 12:53:20"),
    ],
)
def test_dates_of_the_data_are_moments(date: str, text: str) -> None:
    timestamp = milliseconds(date)
    assert timestamp is not None and date_of(timestamp) == text


@pytest.mark.parametrize("date", ["session 3", "May 2023", "yesterday", ""])
def test_incomplete_date_is_no_moment(date: str) -> None:
    assert milliseconds(date) is None
