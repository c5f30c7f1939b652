"""The memory servers of examples/memory_servers with their real libraries and services, where these are installed.

`uv sync --project examples/memory_servers/NAME` creates the environment of an adapter, and `npm install` in
examples/memory_servers/mcp the MCP server. MEMFLOW_LETTA_URL is the address of a Letta server.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from memory_server_lines import SERVERS, JsonLines, adapter, message
from memory_service_fakes import FakeModels, serving
from stub.behavior import StubBehavior
from stub.server import Stub

MCP_SERVER = SERVERS / "mcp/node_modules/@modelcontextprotocol/server-memory/dist/index.js"


def python_of(name: str) -> str:
    """Return the Python of an adapter's own environment, or skip the test."""
    path = SERVERS / name / ".venv" / "bin" / "python"
    if not path.exists():
        pytest.skip(f"`uv sync --project examples/memory_servers/{name}` was not run")
    return str(path)


@pytest.fixture
def letta_url() -> str:
    url = os.environ.get("MEMFLOW_LETTA_URL", "")
    if not url:
        pytest.skip("MEMFLOW_LETTA_URL is not set: no Letta server runs")
    return url


@pytest.fixture
def server_memory(tmp_path: Path) -> str:
    """Return the table of the package, with the installed server instead of npx."""
    node = shutil.which("node")
    if node is None or not MCP_SERVER.exists():
        pytest.skip(
            "`npm install @modelcontextprotocol/server-memory` was not run in examples/memory_servers/mcp"
        )
    text = (SERVERS / "mcp" / "tables" / "server_memory.toml").read_text(encoding="utf-8")
    command = 'command = ["npx", "-y", "@modelcontextprotocol/server-memory"]'
    assert command in text
    path = tmp_path / "table.toml"
    path.write_text(text.replace(command, f'command = ["{node}", "{MCP_SERVER}"]'), encoding="utf-8")
    return str(path)


@pytest.fixture
def models() -> Iterator[FakeModels]:
    with serving(FakeModels()) as service:
        service.key = "memflow"
        yield service


def check_two_spaces(server: JsonLines, sources: tuple[str, ...], dated: bool = True) -> None:
    """Write to two spaces, and read, export and reset them."""
    for space, word in (("run/a ü", "marmalade"), ("run/b", "zeppelin")):
        server.succeed("reset", space=space)
        sent = [
            message("m1", f'The secret "word" of Ann is {word} 🐶', "2014-03-05T10:00:00", "Ann"),
            message("m2", "The weather in the garden is warm", "2014-03-05T10:01:00", "Ben"),
        ]
        assert server.write(space, 1, *sent)["failures"] == []
        server.write(space, 2, message("m3", "Trains leave every hour", "2014-03-06T10:00:00"))
    for space, word in (("run/a ü", "marmalade"), ("run/b", "zeppelin")):
        first, *others = server.read(space, "What is the secret word of Ann?", k=5)
        assert f'The secret "word" of Ann is {word} 🐶' in first["text"]
        assert tuple(first["sources"]) == sources
        assert not dated or "2014-03-05" in first["text"] + first.get("sent_at", "")
        assert all(word not in each["text"] for each in others)
    server.succeed("reset", space="run/a ü")
    assert server.read("run/a ü", "What is the secret word of Ann?") == []
    assert server.read("run/b", "What is the secret word of Ann?")


def test_real_mem0_extracts_stores_and_finds(models: FakeModels) -> None:
    with adapter("mem0", python=python_of("mem0")) as server:
        assert server.hello(models.url)["version"].startswith("2.")
        check_two_spaces(server, ("1",))
        prompts = [body["messages"][-1]["content"] for _, path, body in models.requests if "chat" in path]
        assert "## Observation Date\n2014-03-05" in prompts[0] and "## Current Date\n2014-03-05" in prompts[0]
        exported = server.succeed("export", space="run/b")["items"]
        assert sorted(each["sources"][0] for each in exported) == ["1", "1", "2"]


def test_real_mem0_reports_an_extraction_that_is_no_json(models: FakeModels) -> None:
    models.broken = "broken"
    with adapter("mem0", python=python_of("mem0")) as server:
        server.hello(models.url)
        server.succeed("reset", space="a")
        (failure,) = server.write("a", 1, message("m1", "a broken fact"))["failures"]
        assert failure["sources"] == ["m1"]


def test_real_graphiti_stores_facts_and_finds_them(models: FakeModels) -> None:
    with adapter("graphiti", python=python_of("graphiti")) as server:
        assert server.hello(models.url)["version"].startswith("0.31")
        check_two_spaces(server, ("m1",))
        server.succeed("fork", space="run/b", to="run/b@2")
        server.write("run/b", 3, message("m4", "The secret word of Ann is now hovercraft"))
        assert "m4" in {each["sources"][0] for each in server.read("run/b", "secret word of Ann hovercraft")}
        assert "m4" not in {
            each["sources"][0] for each in server.read("run/b@2", "secret word of Ann hovercraft")
        }
        assert server.end() == 0


async def test_real_graphiti_names_the_messages_of_facts_and_copies_graphs() -> None:
    """The stub server answers with random facts that satisfy the library's schemas."""
    python = python_of("graphiti")
    async with Stub(StubBehavior()) as stub:
        import asyncio

        await asyncio.to_thread(check_graphiti, python, stub.url.removesuffix("/v1"))


def check_graphiti(python: str, url: str) -> None:
    with adapter("graphiti", python=python) as server:
        server.hello(url)
        server.succeed("reset", space="a")
        server.succeed("reset", space="b")
        for number in range(1, 9):
            server.write(
                "a",
                number,
                message(f"m{number}", f"Ann met Ben in city {number}", f"2014-03-0{number}T10:00:00"),
            )
        facts = server.succeed("export", space="a")["items"]
        assert facts and {source for each in facts for source in each["sources"]} <= {
            f"m{n}" for n in range(1, 9)
        }
        assert all(each["sources"] for each in facts)
        server.succeed("fork", space="a", to="a@8")
        server.succeed("reset", space="a")
        assert server.succeed("export", space="a")["items"] == []
        assert server.succeed("export", space="b")["items"] == []
        assert {each["id"] for each in server.succeed("export", space="a@8")["items"]} == {
            each["id"] for each in facts
        }
        found = server.read("a@8", facts[0]["text"], k=3)
        assert facts[0]["id"] in {each["id"] for each in found}
        assert server.end() == 0


def test_real_letta_stores_and_finds_passages(models: FakeModels, letta_url: str) -> None:
    with adapter("letta", "--url", letta_url) as server:
        assert server.hello(models.url)["version"].startswith("0.")
        check_two_spaces(server, ("m1",))
        server.write(
            "run/b",
            3,
            *(message(f"x{n}", f"fact {n}", f"2015-01-01T00:{n // 60:02}:{n % 60:02}") for n in range(250)),
        )
        exported = [each["sources"][0] for each in server.succeed("export", space="run/b")["items"]]
        assert sorted(exported) == sorted(["m1", "m2", "m3", *(f"x{n}" for n in range(250))])
        assert server.end() == 0


def test_real_mcp_server_stores_finds_and_is_copied(server_memory: str) -> None:
    with adapter("mcp", "--table", server_memory) as server:
        assert server.hello()["version"].startswith("memory-server ")
        check_two_spaces(server, ("m1",))
        server.succeed("fork", space="run/b", to="run/b@2")
        server.write("run/b", 3, message("m4", "The secret word of Ann is now hovercraft"))
        assert "m4" in {each["id"] for each in server.read("run/b", "What is the secret word of Ann?")}
        assert "m4" not in {each["id"] for each in server.read("run/b@2", "What is the secret word of Ann?")}
        assert server.end() == 0
