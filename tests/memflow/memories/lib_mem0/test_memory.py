"""The package mem0ai: changes are mirrored and restored, requests use the ledger, and errors are recorded."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from bounded_types import assert_bounded
from memory_helpers import build, give, requests, said

import memflow
from memflow.chat.ledger import LedgeredChat, MemoryLedger, RequestContext
from memflow.chat.requests import ChatRequest, Completion
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadSettings, BudgetSpent, RequestRefused
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.lib_mem0 import library
from memflow.memories.lib_mem0.answers import Facts, Operation, Operations
from memflow.memories.lib_mem0.bridge import EXTRACT, UPDATE
from memflow.memories.lib_mem0.memory import MEMORY, LibMem0
from memflow.memories.memory import FAILURE, Message, Tools
from memflow.memories.registry import find
from memflow.memories.systems import SYSTEMS

LACKS = SYSTEMS["lib_mem0"].missing_requirement
with_package = pytest.mark.skipif(bool(LACKS), reason=f"lib_mem0 needs {LACKS}")


def operations(*wanted: tuple[str, str, str]) -> Operations:
    return Operations(memory=[Operation(id=number, event=event, text=text) for number, event, text in wanted])


def texts(memory: LibMem0) -> list[str]:
    return [item.text for item in memory.store.live(MEMORY)]


@with_package
async def test_update_operation_of_the_mem0_package_revises_the_entry_and_keeps_sources() -> None:
    memory = build(LibMem0)
    await give(memory, said("My car is red.", "My cat is old."))
    await give(memory, said("My car is blue.", first=2, sent_at="8 May 2023"))
    cat, car = memory.store.live(MEMORY)
    assert (cat.text, cat.sources, cat.since) == ("My cat is old.", ("m0", "m1"), 2)
    assert (car.text, car.sources, car.since) == ("[8 May 2023] My car is blue.", ("m0", "m1", "m2"), 3)
    assert car.meta == {"mem0": 0, "memory": "My car is blue.", "date": "8 May 2023"}
    old = next(iter(memory.store))
    assert (old.text, old.until, car.previous) == ("My car is red.", 3, old.entry_id)


@with_package
async def test_delete_operation_of_the_mem0_package_retires_the_entry() -> None:
    memory = build(LibMem0)
    await give(memory, said("My car is red. My cat is old."))
    answer = operations(("0", "DELETE", "x"), ("1", "NONE", "My cat is old."))
    memory.tools.chat.handlers[UPDATE] = lambda request: answer
    await give(memory, said("I sold my car and kept the cat.", first=1))
    assert len(texts(memory)) == 1 and memory.store.live(FAILURE) == []
    [gone] = [item for item in memory.store if item.until is not None]
    assert gone.until == 2 and gone.text not in texts(memory)
    assert (await memory.read("car")).notes == texts(memory)[0]


@with_package
async def test_mem0_package_receives_speakers_and_the_simulated_date() -> None:
    memory = build(LibMem0, {"extract": Facts(facts=[])})
    await give(memory, [Message("m0", "user", "Hi", speaker="Mel", sent_at="8 May 2023")])
    await give(memory, said("Hello", first=1))
    first, second = requests(memory, "extract")
    system, user = first.messages
    assert "- Today's date is 8 May 2023.\n" in system.content and user.content == "Input:\nuser: Mel: Hi\n"
    assert "Today's date" not in second.messages[0].content
    assert [message.role for message in first.messages] == ["system", "user"]
    assert first.output is Facts


@with_package
async def test_mem0_package_requests_are_cached_in_the_ledger() -> None:
    ledger = MemoryLedger()

    async def process() -> list[Any]:
        chat = LedgeredChat(ScriptedChat(LibMem0.handlers()), ledger, RequestContext(role="memory"))
        memory = LibMem0(EntryStore(), Tools(chat, HashingEmbedder()))
        await give(memory, said("My car is red."))
        await give(memory, said("My car is blue.", first=1))
        return list(memory.store)

    first = await process()
    assert sum(ledger.asked.values()) == 4
    assert await process() == first and sum(ledger.asked.values()) == 4
    assert sum(ledger.uses.values()) == 4


@with_package
@pytest.mark.parametrize(
    ("stem", "answer", "reason", "left"),
    [
        ("extract", "no JSON", "lib_mem0/extract: it is not JSON", 0),
        ("update", '{"memory": [', "lib_mem0/update: it is not JSON", 0),
        ("update", operations(("7", "UPDATE", "A car")), "mem0 made 0 of the 1 changes", 0),
        ("update", operations(("7", "DELETE", "A car"), ("0", "ADD", "A cat")), "mem0 made 1 of the 2", 1),
    ],
)
async def test_mem0_package_errors_are_recorded_as_failures(stem, answer, reason, left) -> None:
    memory = build(LibMem0, {stem: answer})
    await give(memory, said("My car is red."))
    [lost] = memory.store.live(FAILURE)
    assert reason in lost.text and lost.sources == ("m0",)
    assert len(texts(memory)) == left
    assert len((await memory.read("car")).entries) == left


@with_package
@pytest.mark.parametrize("prompt", [EXTRACT, UPDATE])
async def test_mem0_write_records_a_refused_request_but_raises_if_the_budget_is_spent(prompt: str) -> None:
    def refusing(error: Exception) -> LibMem0:
        def refuse(request: ChatRequest) -> str:
            raise error

        return build(LibMem0, {prompt.removeprefix("lib_mem0/"): refuse})

    refused = refusing(RequestRefused("too long"))
    await give(refused, said("My car is red."))
    [lost] = refused.store.live(FAILURE)
    assert lost.text == f"{prompt}: too long"
    with pytest.raises(BudgetSpent):
        await give(refusing(BudgetSpent("no more")), said("My car is red."))


@with_package
async def test_cancelled_mem0_write_detaches_the_package_from_the_event_loop() -> None:
    asked = asyncio.Event()

    class Silent(ScriptedChat):
        async def complete(self, request: ChatRequest) -> Completion:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    memory = LibMem0(EntryStore(), Tools(Silent({}), HashingEmbedder()))
    writing = asyncio.ensure_future(give(memory, said("My car is red.")))
    await asyncio.wait_for(asked.wait(), 60)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert memory._library is not None
    assert memory._library.bridge._loop is None


@with_package
def test_mem0_package_writes_no_files_and_opens_no_connections(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import asyncio, socket, sys\n"
        "def refuse(*_, **__): raise AssertionError('it reaches out')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "sys.path.append(sys.argv[1])\n"
        "from memory_helpers import build, give, said\n"
        "from memflow.memories.lib_mem0.memory import LibMem0\n"
        "async def main():\n"
        "    memory = build(LibMem0)\n"
        "    await give(memory, said('My car is red.'))\n"
        "    print((await memory.read('car')).notes)\n"
        "asyncio.run(main())\n"
        "import mem0.memory.telemetry as telemetry, threading, os\n"
        "print(telemetry.MEM0_TELEMETRY, telemetry.client_telemetry.posthog, telemetry._oss_telemetry_instance)\n"
        "print([name for name in os.environ if name.startswith('MEM0')])\n",
        encoding="utf-8",
    )
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    root = Path(memflow.__file__).parents[1]
    environment = {**os.environ, "HOME": str(home), "TMPDIR": str(temporary), "PYTHONPATH": str(root)}
    environment.pop("MEM0_TELEMETRY", None)
    done = subprocess.run(
        [sys.executable, str(script), str(root / "tests")],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert done.stdout.splitlines() == ["My car is red.", "False None None", "[]"], done.stderr
    assert list(home.iterdir()) == list(temporary.iterdir()) == []


@pytest.fixture
def without_package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An environment in which nobody has installed the package."""

    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setitem(sys.modules, "mem0", None)
    library._package.cache_clear()
    yield
    library._package.cache_clear()


@pytest.mark.usefixtures("without_package")
async def test_missing_mem0_package_is_reported_with_the_install_command() -> None:
    tools = Tools(ScriptedChat({}), HashingEmbedder())
    with pytest.raises(
        BadSettings, match=r"lib_mem0_5 needs mem0ai==1\.0\.11, which is not installed. Install it: pip"
    ):
        find("lib_mem0_5").factory(tools)
    with pytest.raises(
        BadSettings, match=r"lib_awe need mem0ai==1\.0\.11 .*Install it: pip install 'memflow-bench\[mem0\]'"
    ):
        await give(LibMem0(EntryStore(), tools), said("Hi"))


@pytest.mark.parametrize("answer", [Facts, Operations])
def test_output_types_of_the_mem0_prompts_are_bounded(answer) -> None:
    assert_bounded(answer)


@with_package
async def test_many_concurrent_mem0_episodes_finish_without_deadlock() -> None:
    """Every answer waits until all episodes have sent a request. With too few threads, the test hangs."""
    count, waiting = 24, asyncio.Event()

    class Slow(ScriptedChat):
        asked = 0

        async def complete(self, request: ChatRequest) -> Completion:
            Slow.asked += 1
            if Slow.asked == count:
                waiting.set()
            await asyncio.wait_for(waiting.wait(), 60)
            await asyncio.to_thread(int)  # as a ledger or an embedder may
            return await super().complete(request)

    tools = Tools(Slow(LibMem0.handlers()), HashingEmbedder())
    memories = [LibMem0(EntryStore(), tools) for _ in range(count)]
    await asyncio.gather(*(give(memory, said(f"My car is {at}.")) for at, memory in enumerate(memories)))
    assert [texts(memory) for memory in memories] == [[f"My car is {at}."] for at in range(count)]
