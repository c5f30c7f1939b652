"""The model proxy under OpenAI's own client and raw HTTP: answers, keys, the ledger, errors and the budget."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest
from pydantic import BaseModel
from stub.behavior import StubBehavior
from stub.server import Stub

from memflow.chat.budget import Budget
from memflow.chat.ledger import LedgeredChat, RequestContext
from memflow.chat.requests import Sampling, TokenBound
from memflow.chat.scripted import LABEL, ScriptedChat
from memflow.errors import BudgetSpent
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.embedder import EndpointEmbedder
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.model_proxy.access import ModelAccess
from memflow.resources.model_proxy.chats import ForwardingChat, ScriptedAnswers
from memflow.resources.model_proxy.server import MAX_BODY, ModelProxy

CONTEXT = RequestContext("r", "memory", "memory", "d", "mine", "small")
HELLO = [{"role": "user", "content": "My sister Ann moved to Oslo."}]


class Fact(BaseModel):
    person: str
    place: str | None


class Facts(BaseModel):
    facts: list[Fact]


TOOL = {
    "type": "function",
    "function": {"name": "save", "description": "Save facts.", "parameters": Facts.model_json_schema()},
}


@dataclass
class Served:
    """A running proxy with its clients, and the stub server behind it."""

    proxy: ModelProxy
    access: ModelAccess
    stub: Stub | None = None
    clients: list[Any] = field(default_factory=list)

    def client(self, key: str | None = None) -> Any:
        made = openai.AsyncOpenAI(base_url=self.proxy.url, api_key=key or self.access.key)
        self.clients.append(made)
        return made

    async def ask(self, messages: Any = None, **more: Any) -> Any:
        return await self.client().chat.completions.create(model="small", messages=messages or HELLO, **more)


@asynccontextmanager
async def served(
    ledger: SqlLedger,
    behavior: StubBehavior | None = None,
    *,
    budget: Budget | None = None,
    profile: Profile | None = None,
    concurrency: int = 64,
    stub: Stub | None = None,
) -> AsyncIterator[Served]:
    """Run a proxy in front of a stub server, or of the scripted chat without a behavior."""
    async with AsyncExitStack() as stack:
        embedder: Any = HashingEmbedder()
        if behavior is None and stub is None:
            inner: Any = ScriptedAnswers(ScriptedChat({}))
        else:
            stub = stub or await stack.enter_async_context(Stub(behavior))
            endpoint = Endpoint(stub.url, profile=profile or Profile(), concurrency=concurrency, patience=0.2)
            chat = OpenAIChat(stub.url, "stub", "model-1", budget=budget, endpoint=endpoint)
            inner = ForwardingChat(await stack.enter_async_context(chat))
            embedder = await stack.enter_async_context(EndpointEmbedder(stub.url, "stub", ledger))
        ledgered = LedgeredChat(inner, ledger, CONTEXT, TokenBound(512), Sampling(seed=3))
        proxy = await stack.enter_async_context(ModelProxy())
        access = proxy.admit(ModelAccess(ledgered, "small", embedder, "vectors"))
        running = Served(proxy, access, stub)
        try:
            yield running
        finally:
            for client in running.clients:
                await client.close()


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite") as made:
        yield made


async def test_answers_are_those_of_the_model(ledger: SqlLedger) -> None:
    async with served(ledger, StubBehavior()) as running:
        answer = await running.ask()
    assert answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert answer.model == "small"
    assert answer.usage.prompt_tokens > 0
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


async def test_typed_answers_satisfy_the_schema(ledger: SqlLedger) -> None:
    async with served(ledger, StubBehavior()) as running:
        parsed = await running.client().chat.completions.parse(
            model="small", messages=HELLO, response_format=Facts
        )
        with_object = await running.ask(response_format={"type": "json_object"})
    assert isinstance(parsed.choices[0].message.parsed, Facts)
    assert isinstance(json.loads(with_object.choices[0].message.content), dict)


async def test_tool_calls_and_their_results_pass_through(ledger: SqlLedger) -> None:
    async with served(ledger, StubBehavior()) as running:
        first = await running.ask(tools=[TOOL], tool_choice="required")
        [call] = first.choices[0].message.tool_calls
        result = {"role": "tool", "tool_call_id": call.id, "content": "saved"}
        again = [*HELLO, first.choices[0].message.model_dump(exclude_none=True), result]
        second = await running.ask(again, tools=[TOOL])
        repeated = await running.ask(tools=[TOOL], tool_choice="required")
    assert first.choices[0].finish_reason == "tool_calls"
    assert first.choices[0].message.content is None
    assert call.function.name == "save"
    Facts.model_validate_json(call.function.arguments)
    assert second.id != first.id
    assert repeated == first


async def test_requests_that_differ_in_tools_or_schema_are_different_requests(ledger: SqlLedger) -> None:
    async with served(ledger, StubBehavior()) as running:
        ids = [
            (await running.ask()).id,
            (await running.ask(tools=[TOOL])).id,
            (await running.ask(tools=[TOOL], tool_choice="required")).id,
            (await running.ask(temperature=0.7)).id,
            (await running.ask(max_tokens=7)).id,
            (await running.ask(stop=["."])).id,
            (await running.ask([{"role": "developer", "content": HELLO[0]["content"]}])).id,
        ]
    assert len(set(ids)) == len(ids)


async def test_streamed_answers_equal_the_others(ledger: SqlLedger) -> None:
    async with served(ledger, StubBehavior()) as running:
        whole, called = await running.ask(), await running.ask(tools=[TOOL], tool_choice="required")
        stream = await running.ask(stream=True, stream_options={"include_usage": True})
        chunks = [chunk async for chunk in stream]
        calls = [
            chunk async for chunk in await running.ask(tools=[TOOL], tool_choice="required", stream=True)
        ]
        assert running.stub is not None
        assert running.stub.counts.asked == 2
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert chunks[-1].usage == whole.usage
    assert chunks[-2].choices[0].finish_reason == "stop"
    [call] = [call for chunk in calls for call in chunk.choices[0].delta.tool_calls or ()]
    assert call.function.arguments == called.choices[0].message.tool_calls[0].function.arguments
    assert calls[-1].choices[0].finish_reason == "tool_calls"


@pytest.mark.parametrize("scripted", [True, False])
async def test_embeddings(ledger: SqlLedger, scripted: bool) -> None:
    async with served(ledger, None if scripted else StubBehavior(dimensions=16)) as running:
        embeddings = running.client().embeddings
        both = await embeddings.create(model="vectors", input=["tea", "bread"])
        floats = await embeddings.create(model="vectors", input="tea", encoding_format="float")
        assert running.access.embedder is not None
        [expected] = (await running.access.embedder.embed(["tea"])).tolist()
    assert both.data[0].embedding == pytest.approx(floats.data[0].embedding)
    assert floats.data[0].embedding == pytest.approx(expected)
    assert both.data[1].embedding != both.data[0].embedding
    assert both.usage.prompt_tokens > 0


@pytest.mark.parametrize("key", ["wrong", "", None])
async def test_requests_without_the_key_are_rejected(ledger: SqlLedger, key: str | None) -> None:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with served(ledger) as running, aiohttp.ClientSession() as session:
        for method, path in (("POST", "/chat/completions"), ("POST", "/embeddings"), ("GET", "/models")):
            async with session.request(method, running.proxy.url + path, headers=headers) as response:
                assert response.status == 401
                assert "MEMFLOW_MODEL_KEY" in (await response.json())["error"]["message"]
        with pytest.raises(openai.AuthenticationError):
            await running.client("wrong").models.list()
    assert running.access.requests == 0


async def test_key_that_is_no_text_is_rejected(ledger: SqlLedger) -> None:
    async with served(ledger) as running:
        reader, writer = await asyncio.open_connection("127.0.0.1", running.proxy.port)
        writer.write(b"GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xe9\xff\r\n\r\n")
        assert (await reader.readline()).split()[1] == b"401"
        writer.close()


async def test_keys_are_valid_until_they_are_withdrawn(ledger: SqlLedger) -> None:
    async with served(ledger) as running:
        await running.ask()
        running.proxy.withdraw(running.access)
        with pytest.raises(openai.AuthenticationError):
            await running.ask()
    with pytest.raises(openai.APIConnectionError):
        await running.client().with_options(max_retries=0).models.list()


async def test_two_accesses_have_keys_and_contexts_of_their_own(ledger: SqlLedger) -> None:
    async with served(ledger) as running:
        other = RequestContext("r", "memory", "memory", "d2", "other", "large")
        inner = running.access.chat.inner
        second = running.proxy.admit(ModelAccess(LedgeredChat(inner, ledger, other), "large"))
        await running.ask()
        await running.client(second.key).chat.completions.create(model="large", messages=HELLO)
        names = [model.id async for model in running.client(second.key).models.list()]
        with pytest.raises(openai.NotFoundError, match="no embedder is chosen"):
            await running.client(second.key).embeddings.create(model="vectors", input="tea")
    assert names == ["large"]
    assert second.key != running.access.key
    ledger.flush()
    rows = ledger.usage(by=("domain", "model"))
    assert {(row.by["domain"], row.by["model"]) for row in rows} == {("d", "small"), ("d2", "large")}


async def test_request_of_a_client_that_leaves_is_stored(ledger: SqlLedger) -> None:
    async with served(ledger, StubBehavior(latency=0.3)) as running:
        with pytest.raises(openai.APITimeoutError):
            await (
                running.client()
                .with_options(timeout=0.1, max_retries=0)
                .chat.completions.create(model="small", messages=HELLO)
            )
        await asyncio.sleep(0.4)
        await running.ask()
        assert running.stub is not None
        assert running.stub.counts.asked == 1


async def test_spent_budget_ends_the_request_and_is_kept_for_the_step(ledger: SqlLedger) -> None:
    async with served(ledger, StubBehavior(), budget=Budget(calls=1)) as running:
        await running.ask()
        with pytest.raises(openai.APIStatusError) as spent:
            await running.ask([{"role": "user", "content": "another"}])
        assert running.stub is not None
        assert running.stub.counts.asked == 1
    assert spent.value.status_code == 503
    assert "budget of 1 calls is used up" in spent.value.message
    assert isinstance(running.access.failure, BudgetSpent)


@pytest.mark.parametrize(
    ("behavior", "status", "message", "ends_step"),
    [
        (StubBehavior(fail=1.0), 502, "kept failing", False),
        (StubBehavior(model="other"), 503, "does not exist", True),
        (None, 503, "Cannot connect", True),
    ],
    ids=["failing", "another model", "down"],
)
async def test_errors_of_the_provider_are_passed_on_and_those_of_all_requests_end_the_step(
    ledger: SqlLedger, behavior: StubBehavior | None, status: int, message: str, ends_step: bool
) -> None:
    async with Stub(StubBehavior()) as stopped:
        pass
    async with served(ledger, behavior, stub=None if behavior else stopped) as running:
        with pytest.raises(openai.APIStatusError) as failed:
            await running.ask()
    assert (failed.value.status_code, message in failed.value.message) == (status, True)
    assert (running.access.failure is not None) is ends_step


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body"),
        (b"[]", "the body"),
        (b'{"model": "small"}', "messages"),
        (b'{"model": "small", "messages": []}', "messages"),
        (b'{"model": "small", "messages": [{"role": "wizard", "content": ""}]}', "messages.0.role"),
        (b'{"model": "small", "messages": [{"role": "user", "content": "a"}], "n": 2}', "n is not 1"),
        (b'{"model": "small", "messages": [{"role": "user", "content": "\\ud800"}]}', "the body"),
        (b'{"model": "gpt-4", "messages": [{"role": "user", "content": "a"}]}', "'gpt-4' does not exist"),
    ],
)
async def test_invalid_bodies_are_rejected_with_the_field(
    ledger: SqlLedger, body: bytes, message: str
) -> None:
    async with served(ledger) as running, aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bearer {running.access.key}"}
        url = f"{running.proxy.url}/chat/completions"
        async with session.post(url, data=body, headers=headers) as response:
            assert response.status in (400, 404)
            assert response.headers["x-should-retry"] == "false"
            assert message in (await response.json())["error"]["message"]


@pytest.mark.parametrize(
    ("given", "message"),
    [([[1, 2]], "token ids"), ([], "empty"), ("tea", "dimensions")],
)
async def test_invalid_embedding_requests_are_rejected(ledger: SqlLedger, given: Any, message: str) -> None:
    more = {"dimensions": 3} if given == "tea" else {}
    async with served(ledger) as running:
        with pytest.raises(openai.BadRequestError, match=message):
            await running.client().embeddings.create(model="vectors", input=given, **more)


async def test_large_bodies_pass_and_too_large_ones_do_not(ledger: SqlLedger) -> None:
    async with served(ledger) as running, aiohttp.ClientSession() as session:
        large = "a" * (4 * 2**20)
        answer = await running.ask([{"role": "user", "content": large}])
        assert answer.usage.prompt_tokens == len(large) // 4
        headers = {"Authorization": f"Bearer {running.access.key}"}
        url = f"{running.proxy.url}/chat/completions"
        async with session.post(url, data=b"a" * (MAX_BODY + 1), headers=headers) as response:
            assert response.status == 413


async def test_other_paths_are_named_in_the_error(ledger: SqlLedger) -> None:
    async with served(ledger) as running:
        with pytest.raises(openai.NotFoundError, match="there is no POST /v1/responses"):
            await running.client().responses.create(model="small", input="tea")


async def test_sampling_has_the_form_of_the_profile(ledger: SqlLedger) -> None:
    """Parameters that a request does not set are those of the model; its thoughts get their headroom."""
    profile = Profile(bound="max_completion_tokens", temperature="omit", headroom=1000)
    async with served(ledger, StubBehavior(), profile=profile) as running:
        inner = running.access.chat.inner
        assert isinstance(inner, ForwardingChat)
        sent: list[dict[str, Any]] = []
        build = inner._body
        inner._body = lambda request: sent.append(build(request)) or sent[-1]  # type: ignore[method-assign, func-returns-value]
        await running.ask()
        await running.ask(max_tokens=100, temperature=0.9, seed=8, user="someone", stop=["."])
    assert {**sent[0], "messages": 0} == {
        "model": "stub",
        "messages": 0,
        "max_completion_tokens": 1512,
        "seed": 3,
    }
    assert {**sent[1], "messages": 0} == {
        "model": "stub",
        "messages": 0,
        "max_completion_tokens": 1100,
        "seed": 8,
        "stop": ["."],
    }


async def test_scripted_answers_are_labeled_and_equal_for_equal_requests(ledger: SqlLedger) -> None:
    async with served(ledger) as running:
        first, second = await running.ask(), await running.ask()
        other = await running.ask([{"role": "user", "content": "something else"}])
    assert first == second
    assert first.choices[0].message.content.startswith(LABEL)
    assert first.choices[0].message.content.endswith("My sister Ann moved to Oslo.")
    assert other.choices[0].message.content != first.choices[0].message.content
