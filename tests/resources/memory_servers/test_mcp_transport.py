"""MCP servers as memories: a process per space, failures of tools, and servers that end or do not answer."""

import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_server
import pytest
from aiohttp import web
from echo_servers import found, sent
from local_server import local_server

from memflow.errors import ServerDown, ServerFailed
from memflow.operations.import_paths import assistant_name, is_address, own_memories
from memflow.resources.memory_servers.connection import ServerConnection
from memflow.resources.memory_servers.declaration import open_server
from memflow.resources.settings.own_sections import OwnMemory
from memflow.resources.settings.settings import Settings

SERVER = str(Path(mcp_server.__file__))


@asynccontextmanager
async def notes(folder: Path, *options: str, **more: Any) -> AsyncIterator[ServerConnection]:
    """Start the MCP server of the tests, and yield a connection to it."""
    command = (sys.executable, SERVER, "{folder}", *options)
    server = open_server("notes", OwnMemory(command=command, contract="mcp", folder=folder, **more), folder)
    try:
        yield server
    finally:
        await server.stop()


async def test_tools_are_found_and_spaces_are_processes(tmp_path: Path) -> None:
    async with notes(tmp_path, settings={"sources": "message"}) as server:
        hello = await server.hello()
        assert (hello.name, hello.version, hello.can.sources) == ("mcp notes", "1.2", "message")
        assert hello.settings["write"] == {"tool": "add_note", "arguments": {"text": "{text}", "key": "{id}"}}
        for space, word in (("a", "apple"), ("b", "pear")):
            await server.reset(space)
            await server.write(space, 1, [sent(1, f"{word} {{text}} \u2028 😀"), sent(2, "nothing")])
        [item] = (await server.read("a", "apple", 5)).items
        assert (item.text, item.sources) == ("user: apple {text} \u2028 😀", ("m1",))
        assert await found(server, "b", "apple") == []
        await server.reset("a")
        assert await found(server, "a", "apple") == []


async def test_processes_of_a_server_end_with_it(tmp_path: Path) -> None:
    async with notes(tmp_path, "--child") as server:
        await server.reset("a")
    log = (tmp_path / "memory_servers/logs/notes.log").read_text(encoding="utf-8")
    children = [int(pid) for pid in re.findall(r"child (\d+)", log)]
    assert len(children) == 2  # of `hello` and of the space
    assert not any(map(is_running, children))


@pytest.mark.parametrize(("settings", "expected"), [({}, []), ({"words": True}, ["m2", "m1"])])
async def test_words_are_searched_by_a_setting_alone(
    tmp_path: Path, settings: dict[str, Any], expected: list[str]
) -> None:
    async with notes(tmp_path, "--exact", settings=settings) as server:
        assert (await server.hello()).settings.get("words") is (True if settings else None)
        await server.reset("a")
        await server.write("a", 1, [sent(1, "a green pear"), sent(2, "an apple tree is green")])
        read = await server.read("a", "Is the apple green?", 5)
        assert [item.id for item in read.items] == expected


def is_running(pid: int) -> bool:
    """Return whether a process runs; one that ended and was not collected does not."""
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"


@asynccontextmanager
async def address(folder: Path, *, as_events: bool = False) -> AsyncIterator[tuple[str, list[Any]]]:
    """Run the tools of the test's server over HTTP, a session each, and yield the address and the requests' headers."""
    seen: list[Any] = []
    add = {**mcp_server.ADD, "required": ["text"]}

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        seen.append(
            {"method": request.method, **{name.lower(): text for name, text in request.headers.items()}}
        )
        if request.method != "POST":
            return web.Response(status=200 if request.method == "DELETE" else 405)
        message = await request.json()
        session = request.headers.get("mcp-session-id") or f"s{len(seen)}"
        match message["method"]:
            case "initialize":
                result: Any = {
                    "protocolVersion": "2025-03-26",
                    "capabilities": {},
                    "serverInfo": {"name": "notes", "version": "2"},
                }
            case "tools/list":
                schemas = {"add_note": add, "find_notes": mcp_server.FIND}
                result = {
                    "tools": [{"name": name, "inputSchema": schema} for name, schema in schemas.items()]
                }
            case "tools/call" if message["params"]["arguments"].get("text") == "user: gone":
                return web.Response(status=404, text="no such session")
            case "tools/call":
                called = message["params"]
                result = mcp_server.call(called["name"], called["arguments"], folder / session, exact=False)
            case _:
                return web.Response(status=202)
        answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
        headers = {"Mcp-Session-Id": session} if message["method"] == "initialize" else {}
        if not as_events:
            return web.Response(text=answer, content_type="application/json", headers=headers)
        note = json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        events = f"event: message\ndata: {note}\n\nid: 1\ndata: {answer}\n\n"
        return web.Response(text=events, content_type="text/event-stream", headers=headers)

    async with local_server(handle) as url:
        yield url.replace("/v1", "/mcp"), seen


@pytest.mark.parametrize("as_events", [False, True])
async def test_address_has_a_session_per_space(
    tmp_path: Path, as_events: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTES_KEY", "a secret")
    async with address(tmp_path, as_events=as_events) as (url, seen):
        own = OwnMemory(url=url, contract="mcp", key_variable="NOTES_KEY")
        server = open_server("notes", own, tmp_path)
        assert (await server.hello()).name == "mcp notes"
        for space, word in (("a", "apple"), ("b", "pear")):
            await server.reset(space)
            await server.write(space, 1, [sent(1, word)])
        [item] = (await server.read("a", "apple", 5)).items
        assert item.text == "user: apple" and await found(server, "b", "apple") == []
        with pytest.raises(ServerFailed, match="Session terminated"):
            await server.write("a", 2, [sent(2, "gone")])
        await server.transport.kill()
        assert len(await found(server, "b", "pear")) == 1
        await server.stop()
    sessions = {headers["mcp-session-id"] for headers in seen if "mcp-session-id" in headers}
    ended = {headers["mcp-session-id"] for headers in seen if headers["method"] == "DELETE"}
    assert sessions == ended and len(ended) > 3
    assert {headers.get("mcp-protocol-version") for headers in seen} == {None, "2025-03-26"}
    assert {headers["authorization"] for headers in seen} == {"Bearer a secret"}
    assert all("text/event-stream" in headers["accept"] for headers in seen)


def test_address_without_encryption_is_on_this_machine() -> None:
    with pytest.raises(ValueError, match="sends the messages to another machine without encryption"):
        OwnMemory(url="http://notes.example/mcp", contract="mcp")
    assert (
        OwnMemory(url="https://notes.example/mcp", contract="mcp").address == "mcp:https://notes.example/mcp"
    )


async def test_refused_note_is_a_failure_and_a_lost_server_gets_its_notes_again(tmp_path: Path) -> None:
    async with notes(tmp_path) as server:
        await server.reset("a")
        answer = await server.write("a", 1, [sent(1, "apple"), sent(2, "refused")])
        assert [(each.why, each.sources) for each in answer.failures] == [
            ("the tool add_note failed: the note is refused", ("m2",))
        ]
        with pytest.raises(ServerFailed, match=r"failed at write: it ended .*Its log .*notes.log"):
            await server.write("a", 2, [sent(3, "crash")])
        assert await found(server, "a", "apple") == ["m1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--tools=find_notes",),
            r"the MCP server notes has no tool to write a memory\. Its tools are find_notes",
        ),
        (("--tools=add_note,store_note,find_notes",), r"2 tools to write a memory \(add_note, store_note\)"),
        (("--silent",), "did not answer hello within its time limit"),
        (("--end",), "ended .*Its log .*notes.log"),
    ],
)
async def test_server_that_cannot_be_used_is_one_sentence(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    async with notes(tmp_path, *options, timeout={"hello": 1 if "--silent" in options else 30}) as server:
        with pytest.raises(
            ServerDown, match=rf"{message}.*Fix the server or `command` of \[memories.notes\]"
        ):
            await server.hello()


async def test_tools_may_be_named_and_other_settings_are_capabilities(tmp_path: Path) -> None:
    tools = "--tools=add_note,store_note,find_notes"
    async with notes(tmp_path, tools, settings={"write": "store_note"}) as server:
        assert (await server.hello()).settings["write"]["tool"] == "store_note"
    async with notes(tmp_path, settings={"rankd": True}) as server:
        with pytest.raises(ServerDown, match="the setting 'rankd' in `settings` is no capability"):
            await server.hello()


def test_command_on_the_command_line_is_a_memory_without_an_at_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "mcp:npx -y '@scope/server memory@1'"
    name = assistant_name(address)
    assert is_address(address) and name == "mcp_server_memory_1_" + name[-8:]
    assert own_memories(Settings(), [address])[name]["command"] == ["npx", "-y", "@scope/server memory@1"]
    monkeypatch.setenv("MCP_API_KEY", "a key")
    address = "mcp:http://127.0.0.1:9100/mcp"
    assert assistant_name(f"{address}@large") == "mcp_127_0_0_1_9100_mcp@large"
    assert own_memories(Settings(), [f"{address}@large"]) == {
        "mcp_127_0_0_1_9100_mcp": {"url": address[4:], "contract": "mcp", "key_variable": "MCP_API_KEY"}
    }
