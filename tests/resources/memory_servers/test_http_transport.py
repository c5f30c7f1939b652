"""Memory servers over HTTP: the same objects by POST, lost servers, and keys."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from echo_servers import found, http_connection, http_echo, sent
from local_server import local_server

from memflow.errors import BadSettings, ServerDown, ServerFailed
from memflow.memories.user_memories import server_name
from memflow.resources.memory_servers.declaration import open_server
from memflow.resources.settings.own_sections import OwnMemory


@asynccontextmanager
async def web_server(
    answer: Callable[[dict[str, object], web.BaseRequest], web.Response],
) -> AsyncIterator[str]:
    """Run an HTTP server in this process, and yield its address. `hello` has a valid answer."""

    async def handle(request: web.BaseRequest) -> web.Response:
        message = await request.json()
        if message["op"] == "hello":
            return web.json_response({"n": message["n"], "name": "x", "version": "1"})
        return answer(message, request)

    async with local_server(handle) as url:
        yield url


async def test_server_over_http_answers_like_one_over_stdio() -> None:
    with http_echo() as (url, _):
        server = http_connection(url)
        assert (await server.hello()).can.fork
        await asyncio.gather(*(server.reset(space) for space in "ab"))
        await server.write("a", 1, [sent(1, "apple \x00 😀\u2028")])
        await server.write("b", 1, [sent(2, "apple")])
        assert (
            await asyncio.gather(*(found(server, space, "apple") for space in "abab")) == [["m1"], ["m2"]] * 2
        )
        [item] = (await server.read("a", "apple", 1)).items
        assert item.text == "user: apple \x00 😀\u2028"
        await server.close("a")
        await server.stop()


async def test_restarted_server_receives_the_writes_of_each_space_again() -> None:
    with http_echo() as (url, process):
        server = http_connection(url)
        await server.reset("a")
        await server.write("a", 1, [sent(1, "apple")])
        process.kill()
        process.wait()
    port = urlsplit(url).port
    assert port is not None
    with http_echo(port=port) as (again, _):
        assert again == url
        assert await found(server, "a", "apple") == ["m1"]
        await server.write("a", 2, [sent(2, "apple")])
        assert await found(server, "a", "apple") == ["m1", "m2"]
        await server.stop()


@pytest.mark.parametrize("has_section", [True, False])
async def test_address_without_a_server_ends_the_step(tmp_path: Path, has_section: bool) -> None:
    with http_echo() as (url, process):
        process.kill()
        process.wait()
    server, fix = http_connection(url), r"Fix the server or `url` of \[memories.echo\]"
    if not has_section:
        server = open_server(server_name(url), OwnMemory(url=url), tmp_path)
        fix = f"Fix the server or its address, check it with `memflow memories check {url}`"
    with pytest.raises(ServerDown, match=f"cannot be reached at {url} .*{fix}"):
        await server.hello()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("wrong_n", r"answered n = 1\d\d\d instead of \d"),
        ("huge", "sent a response longer than 16,777,216 bytes: '{"),
    ],
)
async def test_wrong_response_fails_one_request(fault: str, message: str) -> None:
    with http_echo(fault) as (url, _):
        server = http_connection(url)
        await server.reset("a")

        async def use() -> None:
            await server.write("a", 1, [sent(1, "apple")])
            await server.read("a", "apple", 5)

        with pytest.raises(ServerFailed, match=message):
            await use()
        await server.reset("b")
        await server.stop()


async def test_status_without_an_error_object_is_a_failure_with_its_text() -> None:
    async with web_server(lambda message, _: web.Response(status=404, text="no such route")) as url:
        server = http_connection(url)
        with pytest.raises(ServerFailed, match="HTTP status 404: 'no such route'"):
            await server.reset("a")
        await server.stop()


async def test_redirect_is_not_followed() -> None:
    def redirect(message: dict[str, object], request: web.BaseRequest) -> web.Response:
        return web.Response(status=307, headers={"Location": "http://127.0.0.1:1/"})

    async with web_server(redirect) as url:
        server = http_connection(url)
        with pytest.raises(ServerFailed, match="HTTP status 307"):
            await server.reset("a")
        await server.stop()


async def test_key_is_sent_as_a_bearer_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_SERVICE_KEY", "sk-service")
    seen: list[str] = []

    def answer(message: dict[str, object], request: web.BaseRequest) -> web.Response:
        seen.append(request.headers["Authorization"])
        return web.json_response({"n": message["n"]})

    async with web_server(answer) as url:
        server = http_connection(url, key_variable="MEMORY_SERVICE_KEY")
        await server.reset("a")
        await server.stop()
    assert set(seen) == {"Bearer sk-service"}
    monkeypatch.delenv("MEMORY_SERVICE_KEY")
    with pytest.raises(BadSettings, match="MEMORY_SERVICE_KEY is not set"):
        await http_connection("http://127.0.0.1:9", key_variable="MEMORY_SERVICE_KEY").hello()


class Spaces:
    """The spaces of a web server, which answers no write as the protocol says."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.closed: list[str] = []

    def answer(self, message: dict[str, object], request: web.BaseRequest) -> web.Response:
        match message["op"]:
            case "reset":
                self.names.add(str(message["space"]))
            case "fork":
                self.names.add(str(message["to"]))
            case "close":
                self.names.discard(str(message["space"]))
                self.closed.append(str(message["space"]))
        failed = {"failures": "no list"} if message["op"] == "write" else {}
        return web.json_response({"n": message["n"], "name": "x", "version": "1", **failed})


async def test_spaces_are_deleted_at_the_end_of_a_run_since_the_server_goes_on_to_exist() -> None:
    spaces = Spaces()
    async with web_server(spaces.answer) as url:
        server = http_connection(url)
        for space in "abcd":
            await server.reset(space)
        await server.fork("a", "a@1")
        for space in "bd":  # their content is unknown
            with pytest.raises(ServerFailed, match="invalid answer"):
                await server.write(space, 1, [])
        for space in "cd":
            await server.close(space)
        assert spaces.names == {"a", "a@1", "b"}
        await server.stop()
    assert not spaces.names
    assert sorted(spaces.closed) == ["a", "a@1", "b", "c", "d"]
