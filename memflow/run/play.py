"""The player: processes the events of one episode in order, with one memory, and records the transcript.

Entries have `since` and `until`, so answer.py can restore any checkpoint and ask its probes afterwards. evolution.py
handles events of kind `checkpoint`. The player does not depend on a benchmark.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from types import MappingProxyType
from typing import Any, Literal, Protocol

from memflow.chat.asking import Answer, ask
from memflow.chat.conversation import EPISODE
from memflow.chat.priority import REMAINING
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.errors import BadInput, ChatError, FatalChatError, RecallFailed
from memflow.memories.entries import EntryStore
from memflow.memories.external import ExternalMemory
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.memory import FAILURE, Memory, Message, Recall, read_for_prompt
from memflow.run.forgetting import forget
from memflow.timing import Clock, timed

Origin = Literal["given", "assistant", "simulator"]
FollowUp = Callable[[Sequence[Message]], Awaitable[Answer[str]]]
"""Returns the simulator's next message after a dialogue. Bound to its event, so it may use gold that no memory sees."""
CheckpointHandler = Callable[[Memory], Awaitable[None]]
"""Is called with the memory at a checkpoint. Bound to its event, so it may use gold."""


class PlayObserver(Protocol):
    """Reads the memory during play, at moments at which no write is in progress, and does not change it."""

    async def after_first_event(self, memory: Memory, episode_id: str) -> None:
        """Is called after the first event of an episode."""

    async def at_checkpoint(self, memory: Memory, episode_id: str, checkpoint: int) -> None:
        """Is called after the last event of a checkpoint."""

    async def at_end(self, memory: Memory, episode_id: str) -> None:
        """Is called after the last event of an episode."""


ReadMemory = Callable[[str], Awaitable[Recall]]
"""A frozen read of the memory. Raises RecallFailed."""
DialogueRunner = Callable[[ReadMemory, Chat], Awaitable["Dialogue"]]
"""Runs a dialogue with the assistant's model. Bound to its event, so it may use gold."""


LAST = sys.maxsize
"""The checkpoint after the last one of an episode."""


@dataclass(frozen=True)
class EpisodeQueries:
    """The texts of the queries of an episode's probes, for memories with state outside their store.

    `checkpoints` has the queries of each checkpoint, `messages` those that follow a message within a checkpoint.
    """

    checkpoints: Mapping[int, Sequence[str]] = field(default_factory=dict)
    messages: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def between(self, first: int, end: int) -> list[str]:
        """Return the queries of the checkpoints with `first` <= checkpoint < `end`."""
        return [
            query for number, texts in self.checkpoints.items() if first <= number < end for query in texts
        ]


@dataclass(frozen=True)
class SpokenMessage:
    """A message and its origin. `reason` is set if the request for the message failed, `cut` if its text is cut."""

    message: Message
    origin: Origin
    completion: str | None = None
    reason: str | None = None
    cut: bool = False


@dataclass(frozen=True)
class Dialogue:
    """The messages of a dialogue, and a record that the benchmark stores with the dialogue."""

    spoken: Sequence[SpokenMessage]
    record: Any = None


@dataclass(frozen=True)
class Event:
    """Messages that arrive together. In an exchange, the assistant replies to each message in turn.

    Given messages are written in groups of `together`; 0 writes all at once. A checkpoint has no messages; the player
    calls `on_checkpoint` with the memory. A dialogue starts without messages; `lead` generates them. Consecutive
    dialogues of one checkpoint run concurrently on the memory before the first dialogue. Then each is written in order,
    in one write. `forgets` has the requests to forget by the ids of the messages that make them: the memory gets a
    request after the write of its message.
    """

    number: int
    checkpoint: int
    kind: Literal["exchange", "given", "checkpoint", "dialogue"]
    messages: tuple[Message, ...]
    follow_ups: int = 0
    follow_up: FollowUp | None = None
    together: int = 0
    on_checkpoint: CheckpointHandler | None = None
    lead: DialogueRunner | None = None
    forgets: Mapping[str, ForgetRequest] = field(default_factory=dict)


@dataclass(frozen=True)
class Episode:
    """A sequence of events. `base` is the id of the episode whose final memory this episode continues.

    If `dated` is false, the memory receives messages without their dates; the transcript has them.
    """

    episode_id: str
    events: tuple[Event, ...]
    base: str | None = None
    dated: bool = True


@dataclass(frozen=True)
class PlayedMessage:
    """A message of a played episode. The last message of a write stores the duration of the write (memflow/timing.py).

    A message that asks the memory to forget stores what came of it.
    """

    message: Message
    event: Event
    position: int
    sequence: int
    origin: Origin
    completion: str | None = None
    reason: str | None = None
    cut: bool = False
    models_s: float | None = None
    own_s: float | None = None
    model_calls: int | None = None
    forgets: str | None = None
    ended_entries: int | None = None
    forget_failure: str | None = None
    forget_s: float | None = None
    forget_calls: int | None = None


@dataclass
class PlayedEpisode:
    """The result of playing an episode: its messages, the memory's final EntryStore, and records of its dialogues."""

    episode_id: str
    lines: list[PlayedMessage]
    store: EntryStore
    records: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Replier:
    """A generator of the assistant's replies during play: the model, its prompt, and the fields of one reply."""

    chat: Chat
    prompt: Prompt
    fields: Callable[[Recall, Message], Mapping[str, Any]]
    prompt_with_notes: Prompt | None = None
    """Replaces `prompt` where the memory recalls notes, even if there are none yet."""

    async def reply(self, recall: Recall, message: Message) -> Answer[str]:
        """Return the assistant's reply to a message."""
        prompt = (self.prompt_with_notes if recall.with_notes else None) or self.prompt
        return await ask(self.chat, prompt, self.fields(recall, message), recall.messages)


@dataclass
class _EpisodePlay:
    """An episode that is being played: its memory and replier, the messages so far, and records of dialogues."""

    episode: Episode
    memory: Memory
    replier: Replier | None
    clock: Clock | None = None
    queries: EpisodeQueries = field(default_factory=EpisodeQueries)
    lines: list[PlayedMessage] = field(default_factory=list)
    records: list[Any] = field(default_factory=list)

    async def announce(self, queries: Sequence[str]) -> None:
        """Pass queries that are asked as of now to a memory with state outside its store."""
        if queries and isinstance(self.memory, ExternalMemory):
            await self.memory.on_checkpoint(queries)

    async def process(self, event: Event) -> None:
        """Process an event that is not a dialogue."""
        if event.on_checkpoint is not None:
            await event.on_checkpoint(self.memory)
            return
        if event.kind == "given":
            spoken = [SpokenMessage(message, "given") for message in event.messages]
            group_size = event.together or len(spoken)
            for start in range(0, len(spoken), group_size):
                await self._write(event, spoken[start : start + group_size], first=start)
            return
        history: list[Message] = []
        for message in event.messages:
            has_reply = await self._exchange(event, SpokenMessage(message, "given"), history)
            for _ in range(event.follow_ups):
                if not has_reply or event.follow_up is None:
                    break
                answer = await event.follow_up(history)
                follow_up = self._spoken_message(event, "simulator", answer, message, history)
                if answer.value is None:
                    self._record_unwritten(event, follow_up, position=len(history))
                    break
                has_reply = await self._exchange(event, follow_up, history)

    async def run_dialogues(self, events: Sequence[Event], on_event: Callable[[], None]) -> None:
        """Run dialogues concurrently on the unchanged memory, then write their messages to the memory."""
        replier = self._require_replier()
        failures: list[str] = []

        async def read(query: str) -> Recall:
            recall = await self._recall(query)
            failures.extend(recall.failed)
            return recall

        async def run_dialogue(event: Event) -> Dialogue:
            if event.lead is None:
                raise BadInput(
                    f"event {event.number} of episode {self.episode.episode_id} is a dialogue without a user "
                    "(`lead` is None). Fix the benchmark's episodes."
                )
            dialogue = await event.lead(read, replier.chat)
            on_event()
            return dialogue

        dialogues = await asyncio.gather(*map(run_dialogue, events))
        self._record_failures(sorted(failures))  # sorted, since the order of concurrent reads varies
        for event, dialogue in zip(events, dialogues, strict=True):
            messages = [spoken for spoken in dialogue.spoken if spoken.reason is None]
            if messages:
                await self._write(event, messages)
            for index, lost_message in enumerate(
                spoken for spoken in dialogue.spoken if spoken.reason is not None
            ):
                self._record_unwritten(event, lost_message, position=len(messages) + index)
            self.records.append(dialogue.record)

    async def _exchange(self, event: Event, spoken: SpokenMessage, history: list[Message]) -> bool:
        """Recall, reply, and write both messages. If the reply fails, write the user's message and return False."""
        replier = self._require_replier()
        # Changes by the read belong to this message, not to a checkpoint before it.
        self.memory.store.advance(1)
        answer = await self._reply(replier, spoken.message)
        history.append(spoken.message)
        reply = self._spoken_message(event, "assistant", answer, spoken.message, history)
        if answer.value is None:
            await self._write(event, [spoken], first=len(history) - 1, already_counted=1)
            self._record_unwritten(event, reply, position=len(history))
            return False
        history.append(reply.message)
        await self._write(event, [spoken, reply], first=len(history) - 2, already_counted=1)
        return True

    def _require_replier(self) -> Replier:
        if self.replier is None:
            raise BadInput(
                f"episode {self.episode.episode_id} contains messages that need a reply, but no answering "
                "model is configured. Set the role backbone."
            )
        return self.replier

    async def _reply(self, replier: Replier, message: Message) -> Answer[str]:
        """Read the memory and return the assistant's reply; an answer with a reason if the memory fails."""
        try:
            recall = await self._recall(message.text, frozen=False)
        except RecallFailed as error:
            return Answer(None, str(error))
        self._record_failures(recall.failed)
        return await replier.reply(recall, message)

    def _record_failures(self, reasons: Iterable[str]) -> None:
        for reason in reasons:
            self.memory.store.add(FAILURE, reason, sources=())

    async def _write(
        self, event: Event, messages: Sequence[SpokenMessage], first: int = 0, already_counted: int = 0
    ) -> None:
        """Write messages with positions from `first`. The sequence number includes the first `already_counted` ones."""
        sequence = self.memory.store.sequence - already_counted
        # A probe that follows a message within the write sees the memory before the write.
        queries_after = [self.queries.messages.get(spoken.message.message_id, ()) for spoken in messages]
        await self.announce([query for queries in queries_after[:-1] for query in queries])
        for index, spoken in enumerate(messages):
            line = PlayedMessage(
                spoken.message,
                event,
                first + index,
                sequence + index,
                spoken.origin,
                spoken.completion,
                cut=spoken.cut,
            )
            self.lines.append(line)
        self.memory.store.advance(len(messages) - already_counted)
        _, timer = await timed(self._remember([spoken.message for spoken in messages]), self.clock)
        if timer is not None:
            self.lines[-1] = replace(
                self.lines[-1], models_s=timer.models, own_s=timer.own, model_calls=timer.calls
            )
        for spoken in messages:
            if (request := event.forgets.get(spoken.message.message_id)) is not None:
                await self._forget(spoken.message.message_id, request)
        await self.announce(queries_after[-1])

    async def _forget(self, message_id: str, request: ForgetRequest) -> None:
        """Pass a request to forget to the memory, and record its result in the line of its message."""
        has_dates = self.episode.dated or request.is_everything
        messages = [line.message for line in self.lines if line.reason is None and has_dates]
        columns = await forget(self.memory, request, messages, self.clock)
        index = next(i for i, line in enumerate(self.lines) if line.message.message_id == message_id)
        self.lines[index] = replace(self.lines[index], **columns)

    async def _recall(self, query: str, *, frozen: bool = True) -> Recall:
        """Return the recall of the memory. Raises RecallFailed if the memory or its embedder fails."""
        try:
            return await read_for_prompt(self.memory, query, frozen)
        except FatalChatError:
            raise
        except ChatError as error:
            raise RecallFailed(str(error)) from error

    async def _remember(self, messages: Sequence[Message]) -> None:
        """Write messages to the memory. If its embedder fails, add an entry of kind `failure` with the reason."""
        if not self.episode.dated:
            messages = [replace(message, sent_at=None) for message in messages]
        try:
            await self.memory.write(messages)
        except FatalChatError:
            raise
        except ChatError as error:
            self.memory.store.add(FAILURE, str(error), sources=[message.message_id for message in messages])

    def _record_unwritten(self, event: Event, spoken: SpokenMessage, *, position: int) -> None:
        """Record a message that could not be generated, with the reason. The memory does not receive the message."""
        line = PlayedMessage(spoken.message, event, position, self.memory.store.sequence, spoken.origin)
        self.lines.append(replace(line, completion=spoken.completion, reason=spoken.reason or "no answer"))

    def _spoken_message(
        self, event: Event, origin: Origin, answer: Answer[str], after: Message, history: Sequence[Message]
    ) -> SpokenMessage:
        """Return a generated message, with the date of the message `after` which it comes and an id by `history`."""
        role: Literal["user", "assistant"] = "assistant" if origin == "assistant" else "user"
        message = Message(self._next_id(event, history), role, answer.value or "", sent_at=after.sent_at)
        digest = answer.completion.digest if answer.completion else None
        return SpokenMessage(message, origin, digest, answer.reason, answer.cut)

    def _next_id(self, event: Event, history: Sequence[Message]) -> str:
        return f"{event.messages[0].message_id}+{len(history)}"


async def play(
    episode: Episode,
    memory: Memory,
    replier: Replier | None,
    on_event: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
    queries: EpisodeQueries | None = None,
    is_base: bool = False,
    observer: PlayObserver | None = None,
) -> PlayedEpisode:
    """Play one episode in order, and return the played episode.

    `on_event` is called after every event except checkpoints. With a `clock`, writes are timed. A memory with state
    outside its store gets the `queries` of each checkpoint, and whether the episode `is_base` of another. The
    `observer` reads the memory.
    """
    EPISODE.set(episode.episode_id)
    state = _EpisodePlay(episode, memory, replier, clock, queries or EpisodeQueries())
    if not isinstance(memory, ExternalMemory):
        return await _play(state, on_event, observer)
    try:
        await memory.on_start(episode.episode_id)
        played_episode = await _play(state, on_event, observer)
        await memory.on_end(is_base)
    except BaseException:
        memory.on_abort()
        raise
    return played_episode


async def _play(
    state: _EpisodePlay, on_event: Callable[[], None], observer: PlayObserver | None
) -> PlayedEpisode:
    """Process the events of an episode by checkpoint, and call the observer between them."""
    events, memory, episode_id = (state.episode.events, state.memory, state.episode.episode_id)
    remaining_events = len(events)
    first_checkpoint = events[0].checkpoint if events else LAST
    await state.announce(state.queries.between(0, first_checkpoint))
    for checkpoint, next_checkpoint, checkpoint_events in _checkpoints(events):
        for kind, group in groupby(checkpoint_events, key=lambda event: event.kind):
            REMAINING.set(remaining_events)
            if kind == "dialogue":
                dialogues = list(group)
                await state.run_dialogues(dialogues, on_event)
                remaining_events -= len(dialogues)
                continue
            for event in group:
                REMAINING.set(remaining_events)
                await state.process(event)
                if observer is not None and remaining_events == len(events):
                    await observer.after_first_event(memory, episode_id)
                remaining_events -= 1
                if kind != "checkpoint":
                    on_event()
        await state.announce(state.queries.between(checkpoint, next_checkpoint))
        if observer is not None:
            await observer.at_checkpoint(memory, episode_id, checkpoint)
    if observer is not None:
        await observer.at_end(memory, episode_id)
    return PlayedEpisode(episode_id, state.lines, memory.store, state.records)


def _checkpoints(events: Sequence[Event]) -> Iterator[tuple[int, int, list[Event]]]:
    """Yield (checkpoint, next checkpoint, events of the checkpoint) for each checkpoint; LAST follows the last one."""
    groups = [(number, list(group)) for number, group in groupby(events, key=lambda event: event.checkpoint)]
    successors = [*(number for number, _ in groups[1:]), LAST]  # one more than groups if there are no events
    for (number, group), next_number in zip(groups, successors, strict=False):
        yield number, next_number, group


async def play_all(
    episodes: Iterable[Episode],
    remember: Callable[[EntryStore], Memory],
    replier: Replier | None,
    *,
    on_event: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
    queries: Mapping[str, EpisodeQueries] = MappingProxyType({}),
    observer: PlayObserver | None = None,
) -> list[PlayedEpisode]:
    """Play episodes concurrently in this event loop, and return them in order; the chat limits concurrent requests.

    An episode with a base waits for the base and continues from a copy of its final store. `remember` creates a memory
    on a store. `on_event`, `clock`, `observer` and the `queries` of an episode are passed to `play`. Raises BadInput
    for an unknown base.
    """
    episodes = list(episodes)
    bases = {episode.base for episode in episodes}
    tasks: dict[str, asyncio.Task[PlayedEpisode]] = {}

    async def run(episode: Episode) -> PlayedEpisode:
        store = EntryStore()
        if episode.base is not None:
            if episode.base not in tasks:
                raise BadInput(
                    f"the base episode {episode.base} of the episode {episode.episode_id} is not listed before it. "
                    "Add the base episode before the episode."
                )
            store = (await tasks[episode.base]).store.fork()
        return await play(
            episode,
            remember(store),
            replier,
            on_event,
            clock,
            queries.get(episode.episode_id),
            is_base=episode.episode_id in bases,
            observer=observer,
        )

    for episode in episodes:
        tasks[episode.episode_id] = asyncio.ensure_future(run(episode))
    try:
        return list(await asyncio.gather(*tasks.values()))
    finally:
        for task in tasks.values():
            task.cancel()
