"""The check of restored memories: memories with state elsewhere are refused, shipped ones are not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from generated import Generated, generate
from memory_helpers import case

from memflow.errors import FatalChatError, QuotaExhausted, RecallFailed, RestoredMemoryDiffers
from memflow.memories.entries import EntryStore
from memflow.memories.memory import Calls, Memory, Message, Recall
from memflow.memories.registry import MemoryConfig, find, shipped_systems
from memflow.memories.systems import System
from memflow.pipeline import partition_key, steps_of
from memflow.run.context import StepContext
from memflow.run.dry_run import _CountingModels, run_simulated
from memflow.run.play import Episode, Event, play_all
from memflow.run.restored_memory import RestoredMemoryCheck, sample_checkpoints

SERVICE: dict[str, list[str]] = {}
"""The texts of a service outside the process, by space."""


@pytest.fixture(autouse=True)
def _empty_service() -> None:
    SERVICE.clear()


@dataclass
class Stored(Memory):
    """A correct memory: every message is an entry."""

    async def write(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.store.add("message", message.text, sources=[message.message_id])

    async def read(self, query: str, frozen: bool = True) -> Recall:
        return Recall("\n".join(item.text for item in self.store.live()), entries=tuple(self.store.live()))


@dataclass
class Hosted(Memory):
    """A memory that writes to and reads from a service outside its store."""

    def space(self) -> str:
        return "all"

    async def write(self, messages: Sequence[Message]) -> None:
        SERVICE.setdefault(self.space(), []).extend(message.text for message in messages)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        return Recall("\n".join(SERVICE.get(self.space(), ())))


@dataclass
class HostedWithKey(Hosted):
    """A hosted memory with a space per episode, whose name is an entry."""

    def space(self) -> str:
        key = self.store.newest("key") or self.store.add("key", f"space {len(SERVICE)}", sources=())
        return key.text

    async def read(self, query: str, frozen: bool = True) -> Recall:
        return await super().read(query) if self.store.newest("key") else Recall()


@dataclass
class InInstance(Memory):
    """A memory that keeps its messages in an attribute."""

    texts: list[str] = field(default_factory=list)

    async def write(self, messages: Sequence[Message]) -> None:
        self.texts += [message.text for message in messages]

    async def read(self, query: str, frozen: bool = True) -> Recall:
        return Recall("\n".join(self.texts))


@dataclass
class Unopened(InInstance):
    """A memory that cannot be read before it was written to."""

    async def read(self, query: str, frozen: bool = True) -> Recall:
        return Recall(self.texts[0])


def episodes(count: int = 2, checkpoints: int = 3) -> list[Episode]:
    """Return episodes with two messages per checkpoint."""
    return [
        Episode(
            f"e{number}",
            tuple(
                Event(at, at // 2, "given", (Message(f"e{number}/m{at}", "user", f"text {number}.{at}"),))
                for at in range(2 * checkpoints)
            ),
        )
        for number in range(count)
    ]


def ask_everywhere(episode_id: str, checkpoint: int, following: int) -> str:
    return f"what about {episode_id} at {checkpoint}?"


async def play_checked(
    memory: Callable[[EntryStore], Memory], played: Sequence[Episode] | None = None
) -> RestoredMemoryCheck:
    """Play episodes with a memory and the check. Return the check."""
    played = played or episodes()
    check = RestoredMemoryCheck("mine", memory, sample_checkpoints(played, ask_everywhere))
    await play_all(played, memory, None, observer=check)
    return check


@pytest.mark.parametrize("memory", [Hosted, HostedWithKey, InInstance, Unopened])
async def test_memory_with_state_outside_its_store_is_refused(memory: type[Memory]) -> None:
    with pytest.raises(RestoredMemoryDiffers) as refused:
        await play_checked(memory)
    message = str(refused.value)
    assert "the memory mine keeps state outside its EntryStore" in message
    assert "'what about e0 at 0?'" in message
    assert "episode e0, after" in message
    assert "'text " in message
    assert "docs/how-to/memory_server.md" in message


async def test_memory_with_all_state_in_its_store_is_accepted() -> None:
    assert (await play_checked(Stored)).compared > 2 * 3


async def test_empty_memory_that_recalls_entries_is_refused() -> None:
    known: list[Any] = []

    @dataclass
    class Shared(Stored):
        async def write(self, messages: Sequence[Message]) -> None:
            await super().write(messages)
            known.extend(self.store.live())

        async def read(self, query: str, frozen: bool = True) -> Recall:
            return Recall(entries=tuple(known[:1]))

    with pytest.raises(RestoredMemoryDiffers, match=r"a new memory without entries recalls 'text 0\.0'"):
        await play_checked(Shared)


async def test_order_of_equal_results_is_no_difference() -> None:
    @dataclass
    class Reversing(Stored):
        async def read(self, query: str, frozen: bool = True) -> Recall:
            found = await super().read(query)
            lines = found.notes.splitlines()
            return Recall("\n".join(lines[:: 1 if len(list(self.store)) == self.store.sequence else -1]))

    assert (await play_checked(Reversing)).compared


@pytest.mark.parametrize("calls", [Calls(), Calls(embed_write=1)])
async def test_memory_with_random_reads_is_refused_for_that_reason(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter(range(10_000))

    @dataclass
    class Random(Stored):
        async def read(self, query: str, frozen: bool = True) -> Recall:
            return Recall(f"draw {next(numbers)}")

    monkeypatch.setattr(Random, "calls", calls)
    with pytest.raises(RestoredMemoryDiffers, match=r"recalls other text each time.*Remove randomness"):
        await play_checked(Random)


async def test_failed_reads_are_not_compared_and_fatal_errors_are_raised() -> None:
    errors: list[Exception] = [RecallFailed("no usable answer")]

    @dataclass
    class Failing(Stored):
        async def read(self, query: str, frozen: bool = True) -> Recall:
            raise errors[0]

    assert (await play_checked(Failing)).compared == 0
    errors[0] = QuotaExhausted("no money")
    with pytest.raises(FatalChatError):
        await play_checked(Failing)


# -- the memories that ship with memflow -------------------------------------------------------------------------------


def run_memory(made: Generated, memory: MemoryConfig, known: bool = True) -> list[str]:
    """Run the steps `memories` and `replies` of a generated domain. Return the digests of their requests."""
    dry_run = made.dry_run
    dry_run.completions.clear()
    for step in steps_of("domain x assistant"):
        if step.name not in ("memories", "replies"):
            continue
        probes = [probe for probe in made.probes if probe.split == "test"] if known else []
        context = StepContext(
            _CountingModels(dry_run, made.domain.decoding),
            lambda table, vectors, of: dry_run.rows(table, made.domain.name, memory.name),
            step.inputs_of(made.benchmark, made.domain, memory),
            benchmark=made.benchmark,
            domain=made.domain,
            assistant=memory.name,
            memory=memory,
            later_probes=probes,
        )
        for table, rows in run_simulated(step.function(context))[0].items():
            dry_run.add(table, partition_key(made.domain.name, memory.name), rows)
    return sorted(dry_run.completions)


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the number of comparisons of each check, filled while tests run."""
    found: list[int] = []
    ended = RestoredMemoryCheck.at_end

    async def at_end(self: RestoredMemoryCheck, memory: Memory, episode_id: str) -> None:
        await ended(self, memory, episode_id)
        found.append(self.compared)

    monkeypatch.setattr(RestoredMemoryCheck, "at_end", at_end)
    return found


PLAYED = [system for system in shipped_systems() if system.memory.needs_playing]
DOMAINS = (("amemgym_demo", 1), ("comem_demo", 1), ("membench_demo", 1))
"""tests/memflow/scoring/health/test_shipped_memories.py has the memories play others."""


@pytest.mark.parametrize("system", [case(system) for system in PLAYED])
def test_no_shipped_memory_is_refused(system: System, comparisons: list[int]) -> None:
    for domain, limit in DOMAINS[: 1 if system.memory.requires else None]:  # libraries are slow to start
        made = generate(domain, limit)
        comparisons.clear()
        run_memory(made, find(system.default_name))
        assert max(comparisons) > 0, domain


@pytest.mark.parametrize("name", ["sc_memory_3_3", "mem0_graph_5", "mem_gpt_1500"])
def test_check_sends_only_requests_that_the_probes_send_too(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = generate("amemgym_demo", 1)
    with_check = run_memory(made, find(name))
    monkeypatch.setattr("memflow.run.restored_memory.sample_checkpoints", lambda *_: {})
    assert with_check == run_memory(made, find(name))
