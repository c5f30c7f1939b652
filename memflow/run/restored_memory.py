"""The check that a restored memory recalls what the playing memory recalled: a sample of each partition.

Probes are asked of memories that are restored from entries. A memory with state outside its EntryStore, such as a
hosted service, would then answer an early checkpoint with later knowledge. The check reads the playing memory when a
sampled checkpoint is reached, and the restored one after the next checkpoint and after the episode. It raises
RestoredMemoryDiffers, so no score of such a memory is computed.

The check sends no model request of its own: it reads with the queries of probes, whose requests the ledger shares.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from memflow.benchmarks.api import Benchmark
from memflow.benchmarks.domains import Domain
from memflow.chat.requests import ChatMessage
from memflow.control_characters import visible
from memflow.errors import FatalChatError, MemflowError, RestoredMemoryDiffers
from memflow.fingerprint import digest
from memflow.memories.entries import EntryStore
from memflow.memories.external import ExternalMemory
from memflow.memories.memory import Memory, Recall
from memflow.memories.registry import MemoryConfig
from memflow.records import Probe
from memflow.run.play import LAST, Episode
from memflow.run.unasked import reads_memory, search_text

OF_FIRST_EPISODE = 12
"""Checkpoints of the first episode that are compared: all of them, or a sample if there are more."""
OF_OTHERS = 8
"""Checkpoints of all other episodes together that are compared."""
SHOWN = 200
"""Characters of a query or recall in an error message."""

Query = Callable[[str, int, int], str | None]
"""Returns the query for (episode, checkpoint, end): of a probe with checkpoint <= its checkpoint < end; or None."""


@dataclass(frozen=True)
class _RecallContent:
    """The content of a recall that a prompt would contain, or the error of the read."""

    notes: str = ""
    messages: tuple[ChatMessage, ...] = ()
    texts: tuple[str, ...] = ()
    error: str = ""

    def __eq__(self, other: object) -> bool:
        """Ignore the order of lines, messages and entries: entries of equal similarity have no defined order."""
        return isinstance(other, _RecallContent) and self._sorted() == other._sorted()

    def __hash__(self) -> int:
        return hash(self._sorted())

    def _sorted(self) -> tuple[object, ...]:
        turns = sorted((message.role, message.content) for message in self.messages)
        return sorted(self.notes.splitlines()), turns, sorted(self.texts), self.error

    @property
    def empty(self) -> bool:
        return not (self.messages or self.texts)

    def minus(self, other: "_RecallContent") -> str:
        """Return the lines that only this recall has, or its error, cut to SHOWN characters for a message."""
        other_lines = set(other._lines())
        return _shorten(self.error or "\n".join(line for line in self._lines() if line not in other_lines))

    def _lines(self) -> list[str]:
        turns = [message.content for message in self.messages]
        return "\n".join(filter(None, (self.notes, *turns))).splitlines() or list(self.texts)


@dataclass(frozen=True)
class _SampledRead:
    """A moment of an episode, a query, and what the playing memory recalled for it."""

    episode_id: str
    checkpoint: int | None
    """None for the moment after the first event."""
    sequence: int
    query: str
    content: _RecallContent

    @property
    def moment(self) -> str:
        event = "its first event" if self.checkpoint is None else f"checkpoint {self.checkpoint}"
        return f"episode {self.episode_id}, after {event}"


@dataclass
class RestoredMemoryCheck:
    """The comparisons of the memories of one partition. The player calls the methods in the order of an episode.

    `remember` creates a memory on a store. `queries` has a query for each sampled episode and checkpoint.
    """

    name: str
    remember: Callable[[EntryStore], Memory]
    queries: Mapping[tuple[str, int], str]
    compared: int = 0
    """The number of comparisons so far."""
    _reads: dict[str, list[_SampledRead]] = field(default_factory=dict)
    _compared_early: set[str] = field(default_factory=set)
    _isolated: bool = False

    @property
    def first_episode(self) -> str | None:
        """The episode whose state after its first event is compared, too; None without queries."""
        return next((episode for episode, _ in self.queries), None)

    async def after_first_event(self, memory: Memory, episode_id: str) -> None:
        """Record a read of the memory that plays the episode after its first event, if the episode is sampled."""
        if episode_id == self.first_episode and not memory.calls.chat_read:
            query = next(query for (episode, _), query in self.queries.items() if episode == episode_id)
            await self._record_read(memory, episode_id, None, query)

    async def at_checkpoint(self, memory: Memory, episode_id: str, checkpoint: int) -> None:
        """Record what the memory recalls at this checkpoint, if the checkpoint is sampled.

        The second sampled read of an episode also compares the first one with a restored memory, so that a paid run
        fails early. The first sampled checkpoint also checks that memories are isolated. Raises RestoredMemoryDiffers.
        """
        query = self.queries.get((episode_id, checkpoint))
        if query is None:
            return
        if episode_id in self._reads and episode_id not in self._compared_early:
            self._compared_early.add(episode_id)
            await self._compare(memory, self._reads[episode_id][0])
        await self._record_read(memory, episode_id, checkpoint, query)
        if not self._isolated:
            self._isolated = True
            await self._check_isolation(self._reads.get(episode_id, [])[-1:])

    async def at_end(self, memory: Memory, episode_id: str) -> None:
        """Compare every recorded read of a played episode with a memory restored as of that read.

        Raises RestoredMemoryDiffers.
        """
        for read in self._reads.pop(episode_id, []):
            await self._compare(memory, read)

    async def _record_read(self, memory: Memory, episode_id: str, checkpoint: int | None, query: str) -> None:
        content = await _read(memory, query)
        if content is not None:
            read = _SampledRead(episode_id, checkpoint, memory.store.sequence, query, content)
            self._reads.setdefault(episode_id, []).append(read)

    async def _compare(self, memory: Memory, read: _SampledRead) -> None:
        """Read a memory restored as of a sampled read. Raises RestoredMemoryDiffers if it recalls something else."""
        store = EntryStore.restored(list(memory.store), read.sequence, memory.store.documents)
        restored_memory = self.remember(store)
        content = await _read(restored_memory, read.query)
        if content is None:
            return
        self.compared += 1
        if content != read.content:
            await self._require_repeatable(restored_memory, content, read)
            raise self._difference_error(
                f"for the query {_shorten(read.query)} ({read.moment}), what only the playing memory recalled is "
                f"{read.content.minus(content)}, and what only the memory restored from its entries recalled is "
                f"{content.minus(read.content)}"
            )

    async def _check_isolation(self, reads: Sequence[_SampledRead]) -> None:
        """Raise RestoredMemoryDiffers if a new memory on an empty store recalls something for a query of `reads`."""
        for read in reads:
            new_memory = self.remember(EntryStore())
            if new_memory.calls.chat_read:
                # Its read may ask the model. Without one, the read fails and is not compared.
                new_memory.tools = replace(new_memory.tools, chat=None)
            content = await _read(new_memory, read.query)
            if content is not None and not content.empty:
                raise self._difference_error(
                    f"a new memory without entries recalls {content.minus(_RecallContent())} for the query "
                    f"{_shorten(read.query)} ({read.moment})"
                )

    async def _require_repeatable(self, memory: Memory, content: _RecallContent, read: _SampledRead) -> None:
        """Raise RestoredMemoryDiffers if a second read of a memory differs from the first one, `content`."""
        if await _read(memory, read.query) != content:
            raise RestoredMemoryDiffers(
                f"the memory {self.name} recalls other text each time it is read, as for the query "
                f"{_shorten(read.query)} ({read.moment}), so its scores are refused. Remove randomness and clocks "
                "from `read` (time is `self.store.sequence`), and run a service that changes meanwhile as a memory "
                "server (docs/how-to/memory_server.md)."
            )

    def _difference_error(self, difference: str) -> RestoredMemoryDiffers:
        return RestoredMemoryDiffers(
            f"the memory {self.name} keeps state outside its EntryStore: {difference}. Probes are asked of restored "
            "memories, so its answers would use other messages than those before their checkpoint, and its scores are "
            "refused. "
            "Keep all state in `self.store`, or run a service as a memory server (docs/how-to/memory_server.md)."
        )


def restored_memory_check(
    benchmark: Benchmark,
    domain: Domain,
    memory: MemoryConfig,
    episodes: Sequence[Episode],
    probes: Iterable[Probe],
    remember: Callable[[EntryStore], Memory],
) -> RestoredMemoryCheck | None:
    """Return the check of a partition; None for a memory that declares state outside its store, such as a server.

    Its queries are those of the `probes` that the run asks. Without probes, a memory whose reads send no request is
    read with messages of the episodes, and other memories are not checked.
    """
    if issubclass(memory.system.memory, ExternalMemory):
        return None
    test_probes: dict[str, list[Probe]] = defaultdict(list)
    for probe in probes:
        if probe.split == "test" and probe.reason is None and probe.after is None and reads_memory(probe):
            test_probes[probe.episode_id].append(probe)
    calls = memory.system.memory.calls
    texts: dict[tuple[str, int], str] = {}
    if not test_probes and not calls.chat_read + calls.embed_read:
        texts = {
            (episode.episode_id, event.checkpoint): event.messages[-1].text
            for episode in episodes
            for event in episode.events
            if event.messages
        }

    def query(episode_id: str, checkpoint: int, end: int) -> str | None:
        for probe in test_probes.get(episode_id, ()):
            if checkpoint <= probe.checkpoint < end:
                with suppress(MemflowError, KeyError):  # its reply will have the reason
                    return search_text(benchmark, domain, probe)
        return texts.get((episode_id, checkpoint))

    return RestoredMemoryCheck(memory.name, remember, sample_checkpoints(episodes, query))


def sample_checkpoints(
    episodes: Iterable[Episode], query: Query, *, first: int = OF_FIRST_EPISODE, others: int = OF_OTHERS
) -> dict[tuple[str, int], str]:
    """Return a query for each sampled pair of episode and checkpoint.

    The sample has at most `first` checkpoints of the first episode with a query, and at most `others` of all other
    episodes. It has the pairs with the smallest hashes, so it is the same in each run.
    """
    spans: dict[tuple[str, int], int] = {}
    for episode in episodes:
        checkpoints = list(dict.fromkeys(event.checkpoint for event in episode.events))
        for checkpoint, end in zip(checkpoints, [*checkpoints[1:], LAST], strict=False):
            spans[episode.episode_id, checkpoint] = end

    def sample(moments: Iterable[tuple[str, int]], count: int) -> dict[tuple[str, int], str]:
        """Return the queries of up to `count` moments with a query, by (episode, checkpoint)."""
        queries: dict[tuple[str, int], str] = {}
        for moment in sorted(moments, key=lambda moment: digest("restored memory", *moment)):
            if len(queries) == count:
                break
            if (query_text := query(*moment, spans[moment])) is not None:
                queries[moment] = query_text
        return queries

    first_episode = next(
        (moment[0] for moment, end in spans.items() if query(*moment, end) is not None), None
    )
    of_first = sample((moment for moment in spans if moment[0] == first_episode), first)
    of_others = sample((moment for moment in spans if moment[0] != first_episode), others)
    return dict(sorted(of_first.items())) | of_others


async def _read(memory: Memory, query: str) -> _RecallContent | None:
    """Return the recall for a query; None if the memory's model or server failed, which the reply's row reports."""
    try:
        recall: Recall = await memory.read(query, frozen=True)
    except FatalChatError:
        raise
    except MemflowError:
        return None
    except Exception as error:  # noqa: BLE001  (a restored memory without its external state may raise anything)
        return _RecallContent(error=f"an exception, {type(error).__name__}: {error}")
    return _RecallContent(recall.notes, recall.messages, tuple(entry.text for entry in recall.entries))


def _shorten(text: str) -> str:
    """Return a text in quotes on one line, cut to SHOWN characters; `nothing` for an empty text."""
    text = visible(" ".join(text.split()))
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...") if text else "nothing"
