"""Answering probes: restore the memory as of the checkpoint, recall, ask the assistant, record the reply.

A probe never changes a memory. memflow/scoring/ computes scores from replies.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memflow.benchmarks.api import Benchmark
from memflow.benchmarks.domains import Domain
from memflow.chat.asking import ask
from memflow.chat.conversation import EPISODE
from memflow.chat.requests import Chat, Completion
from memflow.errors import BadInput, FatalChatError, MemflowError, ServerDown
from memflow.memories.baselines import Oracle, PreviousState
from memflow.memories.entries import EntryStore, Item
from memflow.memories.external import DatedQuery
from memflow.memories.memory import Memory, Recall, read_for_prompt
from memflow.records import QUARANTINED_PROBE, SEARCH, Probe, Reply
from memflow.run.unasked import Observed, observe_entries, observe_recall, reads_memory
from memflow.timing import Clock, OperationTimer, timed

READING = 256
"""Probes that read concurrently: a bound on the restored memories in RAM."""
RUNNING = 1024
"""Probes that read or wait for an answer: a bound on the prompts in RAM, above any model's concurrency."""
STARTED_TOGETHER = 16
"""Probes that start in one iteration of the event loop: the ledger looks their requests up together."""

RANKED = 10
"""Entries of the ranking that a reply stores, for recall@10."""


@dataclass(frozen=True)
class EpisodeHistory:
    """The entries of a played episode, and the sequence numbers at which its probes are asked.

    `checkpoints` contains the sequence number of each checkpoint, `messages` that of each message that a probe follows.
    """

    items: Sequence[Item]
    checkpoints: Mapping[int, int]
    messages: Mapping[str, int] = field(default_factory=dict)
    starts: Mapping[int, int] = field(default_factory=dict)
    """The sequence number before the first message of each checkpoint with messages."""
    documents: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """Shared by the search indexes of the restored memories (EntryStore.documents)."""

    def at(self, checkpoint: int) -> EntryStore:
        """Return the entry store as of the end of a checkpoint."""
        return EntryStore.restored(self.items, self.checkpoints[checkpoint])

    def sequence(self, probe: Probe) -> int:
        """Return the sequence number at which `probe` is asked: after its message `after`, or else at its checkpoint.

        Raises BadInput if that message was not played.
        """
        if probe.after is None:
            return self.checkpoints[probe.checkpoint]
        if probe.after not in self.messages:
            raise not_played(probe)
        return self.messages[probe.after]


def _restored_store(history: EpisodeHistory | None, probe: Probe) -> EntryStore:
    """Return the entry store as of the probe; an empty store for an episode that was not played (None)."""
    if history is None:
        return EntryStore()
    return EntryStore.restored(history.items, history.sequence(probe), history.documents)


def not_played(probe: Probe) -> BadInput:
    """Return the exception for a probe that follows a message which was not played."""
    return BadInput(
        f"the probe {probe.probe_id} follows the message {probe.after}, which was not played. Rerun the episode."
    )


async def answer_all(
    benchmark: Benchmark,
    domain: Domain,
    assistant: str,
    probes: Sequence[Probe],
    histories: Mapping[str, EpisodeHistory],
    remember: Callable[[EntryStore], Memory],
    chat: Chat,
    *,
    on_answer: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
) -> list[Reply]:
    """Return the replies in the order of `probes`. Probes are answered concurrently; the chat limits the concurrency.

    `on_answer` is called after every probe. Probes of one checkpoint share a restored memory, which is freed after its
    last read, as is the history of an episode. A probe whose memory fails yields a reply with a reason. With a `clock`,
    reads are timed. Raises FatalChatError and ServerDown.
    """
    remaining_histories = dict(histories)
    del histories  # a caller that keeps no reference lets each history end with its last probe
    answer_slots = asyncio.Semaphore(RUNNING)
    read_slots = asyncio.Semaphore(READING)
    memories: dict[_Moment, Memory] = {}
    uses = Counter[_Moment | str](moment for probe in probes for moment in (_moment(probe), probe.episode_id))

    def memory_of(probe: Probe) -> Memory:
        moment = _moment(probe)
        if moment not in memories:
            history = remaining_histories.get(probe.episode_id)
            store = _restored_store(history, probe)
            memory = remember(store)
            if history is None and probe.after is not None and memory.needs_playing:
                raise not_played(probe)
            memories[moment] = memory
        return memories[moment]

    def release(probe: Probe) -> None:
        moment, episode = _moment(probe), probe.episode_id
        uses.subtract((moment, episode))
        if not uses[moment]:
            memories.pop(moment, None)
        if not uses[episode]:
            remaining_histories.pop(episode, None)

    async def read(probe: Probe) -> _Read:
        async with read_slots:
            try:
                return await _read(
                    benchmark,
                    domain,
                    probe,
                    memory_of(probe),
                    clock,
                    remaining_histories.get(probe.episode_id),
                )
            finally:
                release(probe)

    replies: dict[int, Reply] = {}  # and not the tasks, which keep more than their result

    async def answer(number: int, probe: Probe) -> None:
        EPISODE.set(probe.episode_id)
        try:
            reply = await _ask(benchmark, domain, assistant, probe, await read(probe), chat)
        except (FatalChatError, ServerDown):
            raise
        except (MemflowError, KeyError) as error:
            reply = _failed_reply(domain, assistant, probe, error)
        on_answer()
        replies[number] = reply

    try:
        async with asyncio.TaskGroup() as group:
            for number, probe in enumerate(probes):
                await answer_slots.acquire()
                task = group.create_task(answer(number, probe))
                # A callback also runs for a task that is canceled before it starts.
                task.add_done_callback(lambda _: answer_slots.release())
                if (number + 1) % STARTED_TOGETHER == 0:
                    await asyncio.sleep(0)  # let the loop process answers that have arrived
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [replies[number] for number in range(len(probes))]


async def answer_one(
    benchmark: Benchmark,
    domain: Domain,
    assistant: str,
    probe: Probe,
    memory: Memory,
    chat: Chat,
    clock: Clock | None = None,
) -> Reply:
    """Return the reply to one probe of a restored or running memory, which does not change."""
    try:
        read = await _read(benchmark, domain, probe, memory, clock)
        return await _ask(benchmark, domain, assistant, probe, read, chat)
    except (FatalChatError, ServerDown):
        raise
    except (MemflowError, KeyError) as error:
        return _failed_reply(domain, assistant, probe, error)


_Moment = tuple[str, int, str | None]


def _moment(probe: Probe) -> _Moment:
    """Return the key of the restored memory for a probe; probes with equal keys share a memory."""
    return probe.episode_id, probe.checkpoint, probe.after


def _failed_reply(domain: Domain, assistant: str, probe: Probe, error: Exception) -> Reply:
    reason = f"recall for {probe.probe_id}: {type(error).__name__}: {error}"
    return _reply(domain, assistant, probe, _Read(), reason=reason)


@dataclass(frozen=True)
class _Read:
    """The result of reading a memory for a probe, stored so that the memory can be freed before the model answers."""

    recall: Recall = field(default_factory=Recall)
    gold_context: str | None = None
    timer: OperationTimer | None = None
    ranks: bool = False
    observed: Observed | None = None
    """What a probe that asks no answer shows."""


async def _read(
    benchmark: Benchmark,
    domain: Domain,
    probe: Probe,
    memory: Memory,
    clock: Clock | None,
    history: EpisodeHistory | None = None,
) -> _Read:
    """Read the memory for a probe, or only observe its entries. A quarantined probe gets an empty result."""
    if probe.reason is not None:
        return _Read()
    if not reads_memory(probe):
        items, starts = ((), {}) if history is None else (history.items, history.starts)
        return _Read(observed=observe_entries(probe, memory, items, starts.get(probe.checkpoint)))
    gold_context = _gold_context(probe, memory)
    text = probe.question
    if probe.kind != SEARCH:
        text = benchmark.question(domain, probe, Recall(), gold_context).query
    recall, timer = await timed(read_for_prompt(memory, DatedQuery(text, probe.asked_at)), clock)
    observed = observe_recall(probe, memory, recall) if probe.kind == SEARCH else None
    return _Read(recall, gold_context, timer, memory.ranks_entries, observed)


def _gold_context(probe: Probe, memory: Memory) -> str | None:
    """Return the gold for a probe's prompt with `oracle` or `previous`; None for other memories. Raises BadInput."""
    if isinstance(memory, Oracle):
        return probe.revealed
    if not isinstance(memory, PreviousState):
        return None
    if probe.previous is None:
        raise BadInput(f"the probe {probe.probe_id} has no previous state. Regenerate question/probes.")
    return probe.previous


async def _ask(
    benchmark: Benchmark, domain: Domain, assistant: str, probe: Probe, read: _Read, chat: Chat
) -> Reply:
    """Return the reply to a probe: the model's answer, what was observed, or the reason for neither."""
    if probe.reason is not None:
        reason = f"{QUARANTINED_PROBE}: {probe.reason}"
        return _reply(domain, assistant, probe, read, reason=reason)
    if read.observed is not None:
        return replace(_reply(domain, assistant, probe, read), **read.observed.columns())
    question = benchmark.question(domain, probe, read.recall, read.gold_context)
    answer = await ask(chat, question.prompt, question.fields, read.recall.messages)
    return _reply(
        domain,
        assistant,
        probe,
        read,
        reason=answer.reason,
        cut=answer.cut,
        parsed=None if answer.value is None else benchmark.parse(probe, answer.value),
        attempts=answer.attempts,
        prompt=f"{question.prompt.name}@{question.prompt.digest[:8]}",
        model=chat.fingerprint,
        **_completion_columns(answer.completion),
    )


def _completion_columns(completion: Completion | None) -> dict[str, Any]:
    """Return the columns of a reply that describe the model's completion; none without one."""
    if completion is None:
        return {}
    return {
        "text": completion.text,
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "latency_s": completion.latency_s,
        "completion": completion.digest,
    }


def _reply(domain: Domain, assistant: str, probe: Probe, read: _Read, **answer: Any) -> Reply:
    """Return the row of a reply to a probe."""
    recall, timer = read.recall, read.timer
    return Reply(
        domain=domain.name,
        assistant=assistant,
        probe_id=probe.probe_id,
        episode_id=probe.episode_id,
        checkpoint=probe.checkpoint,
        recalled=[item.entry_id for item in recall.entries],
        recalled_sources=list(recall.sources),
        injected_tokens=recall.injected_tokens,
        dropped_tokens=recall.dropped_tokens,
        dropped_messages=recall.dropped_messages,
        recall_failures=list(recall.failed),
        ranked=[item.entry_id for item in recall.ranked[:RANKED]] if read.ranks else [],
        models_s=None if timer is None else timer.models,
        own_s=None if timer is None else timer.own,
        model_calls=None if timer is None else timer.calls,
        **answer,
    )
