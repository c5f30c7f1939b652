"""Memory servers that call models through the proxy: usage, replay, budget, keys, variables and comparability."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from stub import stub_process
from stub.process import count_answers

from memflow.assets.fingerprints import Fingerprints
from memflow.chat.budget import Budget
from memflow.chat.ledger import RequestContext
from memflow.chat.scripted import LABEL
from memflow.errors import BudgetSpent
from memflow.memories.server.protocol import Capabilities, Hello, SentMessage
from memflow.operations.required_checks import memory_server_notes, servers_with_own_models
from memflow.resources.endpoints.addresses import reaches_loopback
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.memory_servers.declaration import write_hello
from memflow.resources.models.chats import Chats
from memflow.resources.models.models import Models
from memflow.resources.settings.settings import Settings, load

SERVER = Path(__file__).parents[2] / "model_server.py"
CONTEXT = RequestContext("run", "answer", domain="amemgym_demo")
MESSAGES = [
    SentMessage(id=f"m{at}", role="user", text=f"My cat number {at} is called Ann.") for at in range(3)
]


def settings_of(home: Path, url: str = "", **memory: Any) -> Settings:
    """Return settings with a memory server whose model is the stub at `url`, or the scripted chat."""
    served = {"command": [sys.executable, str(SERVER)], "unchecked": True, **memory}
    over: dict[str, Any] = {"home": home, "memories": {"served": served}}
    if url:
        over["models"] = {"small": {"url": url, "model": "stub", "patience": 0.1}}
        over["embedder"] = {"kind": "endpoint", "url": url, "model": "stub"}
    return load(over=over)


@contextmanager
def opened(settings: Settings, budget: Budget | None = None) -> Iterator[Models]:
    with closing(Models(settings, SqlLedger(settings.ledger_url), budget)) as models:
        yield models


async def write_and_read(chats: Chats, assistant: str = "served@small") -> list[str]:
    """Write three messages and read them. Return the texts."""
    server = (await chats.tools(assistant)).server
    assert server is not None
    await server.reset("space")
    written = await server.write("space", 1, MESSAGES)
    assert not written.failures, written.failures
    return [item.text for item in (await server.read("space", "cat", 10)).items]


async def access_of(chats: Chats) -> Any:
    """Open the memory server, and return its access to the models."""
    await chats.tools("served")
    [(_, access)] = chats.clients._memory_servers.values()
    return access


def run(models: Models, work: Callable[[Chats], Any] = write_and_read) -> Any:
    return models.run(CONTEXT, work)


def test_requests_of_a_server_are_counted_and_replayed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with stub_process(latency=0, log=str(log)) as url:
        settings, found = settings_of(tmp_path, url), []
        for _ in range(2):
            with opened(settings) as models:
                found.append(run(models))
                rows = models.ledger.usage(by=("stage", "role", "domain", "assistant", "model"))
    assert found[0] == found[1] and len(found[0]) == 3
    [row] = [row for row in rows if row.by["role"] == "memory"]
    assert [*row.by.values()] == ["memory", "memory", "amemgym_demo", "", "small"]
    assert (row.requests, row.cache_hits) == (3, 3)
    assert row.prompt_tokens > 0
    assert sum(count_answers(log).values()) == 3 + 4  # answers, and vectors of three messages and a query


def test_scripted_assistant_has_scripted_answers_and_the_hashing_embedder(tmp_path: Path) -> None:
    with opened(settings_of(tmp_path)) as models:
        texts = run(models, lambda chats: write_and_read(chats, "served"))
    assert all(text.startswith(LABEL) and text.endswith("is called Ann.") for text in texts)
    assert len({*texts}) == 3


def test_spent_budget_ends_the_step_instead_of_failing_writes(tmp_path: Path) -> None:
    budget = Budget(calls=2)
    with (
        stub_process(latency=0) as url,
        opened(settings_of(tmp_path, url), budget) as models,
        pytest.raises(BudgetSpent),
    ):
        run(models)


def test_failed_requests_make_the_partition_stale(tmp_path: Path) -> None:
    """Otherwise a partition would be up to date although its memory lacks messages."""
    with stub_process(latency=0, fail=1.0) as url, opened(settings_of(tmp_path, url)) as models:

        async def write(chats: Chats) -> Any:
            server = (await chats.tools("served@small")).server
            assert server is not None
            await server.reset("space")
            return await server.write("space", 1, MESSAGES[:1])

        [failure] = run(models, write).failures
        assert "status 502" in failure.why
        assert models.ledger.unfinished("run", "memory") == 1


@pytest.mark.parametrize("kind", ["silent", "own", "typed"])
def test_server_that_declares_given_models_and_uses_none_is_named(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_of(tmp_path, command=[sys.executable, str(SERVER), kind])
    with opened(settings) as models:
        run(models, lambda chats: write_and_read(chats, "served"))
    assert ("the memory server served declares `models: given`" in caplog.text) is (kind == "silent")


def test_keys_end_with_the_run(tmp_path: Path) -> None:
    async def status(access: Any, url: str) -> int:
        headers = {"Authorization": f"Bearer {access.key}"}
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{url}/models", headers=headers) as response,
        ):
            return response.status

    async def find(chats: Chats) -> tuple[Any, int]:
        access = await access_of(chats)
        return access, await status(access, access.url)

    with opened(settings_of(tmp_path)) as models:
        access, before = run(models, find)
        models.end_run("run")
        after = models.run(RequestContext("other"), lambda chats: status(access, access.url))
    assert (before, after) == (200, 401)


def test_language_model_without_a_chosen_embedder_gives_no_embedding_endpoint(tmp_path: Path) -> None:
    model = {"url": "http://127.0.0.1:9/v1", "model": "a/small"}
    settings = load(over={"home": tmp_path, "models": {"small": model}})
    assert not settings.offers_embedder("served@small")
    assert settings.offers_embedder("served")


def test_variables_of_the_settings_take_precedence(tmp_path: Path) -> None:
    with opened(settings_of(tmp_path)) as models:
        access = run(models, access_of)
    given = access.variables(())
    assert given["OPENAI_API_KEY"] == given["MEMFLOW_MODEL_KEY"] == access.key
    assert given["OPENAI_BASE_URL"] == given["MEMFLOW_MODEL_URL"] == access.url
    assert given["MEMFLOW_CHAT_MODEL"] == "scripted"
    assert not {"OPENAI_API_KEY", "OPENAI_BASE_URL"} & {*access.variables(("OPENAI_API_KEY",))}
    assert access.key not in repr(access)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://localhost/memory", True),
        ("http://[::1]:80", True),
        ("https://memory.example.com", False),
        ("http://10.0.0.7:8000", False),
        ("http://127.0.0.1.example.com", False),
    ],
)
def test_only_servers_on_this_machine_get_the_key(url: str, local: bool) -> None:
    assert reaches_loopback(url) is local


@pytest.mark.parametrize("models", ["own", "given", "none"])
def test_own_models_are_a_term_of_comparability(tmp_path: Path, models: Any) -> None:
    settings = settings_of(tmp_path)
    before = Fingerprints.of(settings).answering("served")
    hello = Hello(name="a", version="1", can=Capabilities(models=models))
    write_hello("served", tmp_path, hello)
    fingerprints = Fingerprints.of(settings)
    behind = fingerprints.behind(settings.domain("amemgym_demo"), "served")
    assert behind.get("memory_models") == ("own models, not counted" if models == "own" else None)
    assert behind.get("embedder") == ("hashing-256" if models == "given" else None)
    assert fingerprints.answering("served") != before
    assert servers_with_own_models(settings) == (["served"] if models == "own" else [])
    notes = memory_server_notes(settings, ["served@small", "served", "full"])
    assert len(notes) == (0 if models == "none" else 1)
    assert ("served: own models, not counted" in notes) is (models == "own")


def test_forecast_names_a_server_that_was_not_started(tmp_path: Path) -> None:
    [note] = memory_server_notes(settings_of(tmp_path), ["served"])
    assert "not started yet" in note
