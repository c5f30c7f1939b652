"""The model clients of an event loop: the settings of a model reach its endpoint."""

import sys
from pathlib import Path

import pytest
from stub import Stub, StubBehavior

from memflow.chat.budget import Budget
from memflow.chat.ledger import RequestContext
from memflow.chat.requests import ChatMessage, ChatRequest
from memflow.errors import BudgetSpent, ChatError, ServerDown
from resources.endpoints.chat import OpenAIChat
from resources.endpoints.embedder import EndpointEmbedder
from resources.ledger.sql_ledger import SqlLedger
from resources.models.chats import Chats
from resources.models.clients import Clients
from resources.settings.settings import load
from resources.vllm_servers.servers import VllmServers


async def test_chat_has_the_limits_key_and_profile_of_its_model(tmp_path: Path) -> None:
    limits = {
        "patience": 7.0,
        "longest_pause": 8.0,
        "timeout": 9.0,
        "response_bytes": 10_000,
        "concurrency": 11,
    }
    model = {
        "url": "http://127.0.0.1:9/v1",
        "model": "a",
        "preset": "azure",
        "key_variable": "KEY_A",
        **limits,
    }
    settings = load(over={"home": tmp_path, "models": {"m": model}})
    with SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite") as ledger:
        clients = Clients(settings, ledger, VllmServers({}, Path()), None)
        chat = await clients.chat("m")
        assert isinstance(chat, OpenAIChat)
        endpoint = chat.endpoint
        assert {name: getattr(endpoint, name) for name in limits} == limits
        assert (endpoint.key_variable, endpoint.profile.auth) == ("KEY_A", "api-key")
        assert "`url` of model m" in endpoint.setting
        await clients.close()


async def test_failed_embedding_is_recorded_so_that_a_later_run_repeats_it(tmp_path: Path) -> None:
    """Otherwise a partition would be up to date although its memory has entries without vectors."""
    async with Stub(StubBehavior(fail=1.0, latency=0)) as stub:
        embedder = {"kind": "endpoint", "url": stub.url, "model": "e"}
        settings = load(over={"home": tmp_path, "embedder": embedder})
        with SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite") as ledger:
            clients = Clients(settings, ledger, VllmServers({}, Path()), None)
            shared = await clients.embedder()
            assert isinstance(shared, EndpointEmbedder)
            shared.endpoint.tries = 1
            account = RequestContext(run="r", stage="memory", domain="d", assistant="a")
            with pytest.raises(ChatError):
                await (await Chats(clients, account, lambda *_: None).embedder()).embed(["a text"])
            assert (ledger.unfinished("r", "memory"), ledger.unfinished("r", "answer")) == (1, 0)
            await clients.close()


async def test_memory_tools_have_the_context_window_of_the_answering_model(tmp_path: Path) -> None:
    models = {
        name: {"url": "http://127.0.0.1:9/v1", "model": name, "profile": profile}
        for name, profile in (("short", {"window": 32_768}), ("unknown", {}))
    }
    embedder = {"kind": "hashing"}
    settings = load(over={"home": tmp_path, "models": models, "embedder": embedder})
    with SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite") as ledger:
        clients = Clients(settings, ledger, VllmServers({}, Path()), None)
        chats = Chats(clients, RequestContext(run="r", stage="memory", domain="d"), lambda *_: None)
        windows = [(await chats.tools(f"full@{name}")).window for name in models]
        assert windows == [32_768 - 8_192, None]
        await clients.close()


async def test_no_server_is_started_if_the_budget_admits_no_request(tmp_path: Path) -> None:
    """`memflow repair` sends no request: it needs neither vLLM nor a memory server."""
    started = tmp_path / "started"
    command = [sys.executable, "-c", f"open({str(started)!r}, 'w')"]
    over = {
        "home": tmp_path,
        "models": {"m": {"kind": "vllm", "model": "tiny", "executable": str(tmp_path / "no_vllm")}},
        "embedder": {"kind": "hashing"},
        "memories": {"served": {"command": command}},
    }
    settings = load(over=over)
    servers = VllmServers(settings.models, tmp_path)
    with SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite") as ledger:
        clients = Clients(settings, ledger, servers, Budget(calls=0))
        account = RequestContext(run="r", stage="memory", domain="amemgym_demo", assistant="served@m")
        tools = await Chats(clients, account, lambda *_: None).tools("served@m")
        with pytest.raises(BudgetSpent):
            await tools.chat.complete(ChatRequest("test/prompt", {}, (ChatMessage("user", "hello"),)))
        assert tools.server is not None
        with pytest.raises(ServerDown, match=r"memory server served is not started.*no request"):
            await tools.server.hello()
        await clients.close()
    assert not started.exists() and servers.facts() == {}
