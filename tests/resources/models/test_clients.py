"""The model clients of an event loop: the settings of a model reach its endpoint."""

from pathlib import Path

import pytest
from stub import Stub, StubBehavior

from memflow.chat.ledger import RequestContext
from memflow.errors import ChatError
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.embedder import EndpointEmbedder
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.chats import Chats
from memflow.resources.models.clients import Clients
from memflow.resources.settings.settings import load
from memflow.resources.vllm_servers.servers import VllmServers


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
