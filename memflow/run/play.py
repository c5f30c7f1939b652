"""The player: processes the events of one episode in order, with one memory, and records the transcript.

Entries have `since` and `until`, so answer.py can restore any checkpoint and ask its probes, afterwards or while later
periods are played (early_answers.py). evolution.py handles events of kind `checkpoint`. The player does not depend on a
benchmark.
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
from memflow.memories.memory import FAILURE, Memory, Message, Recall, read_for_prompt
from memflow.timing import Clock, timed

Origin = Literal["given", "assistant", "simulator"]
FollowUp = Callable[[Sequence[Message]], Awaitable[Answer[str]]]
"""Returns the simulator's next message after a dialogue. Bound to its event, so it may use gold that no memory sees."""
CheckpointHandler = Callable[[Memory], Awaitable[None]]
"""Is called with the memory at a checkpoint. Bound to its event, so it may use gold."""
AfterCheckpoint = Callable[["PlayedEpisode", int, int], None]
"""Is called with what was played so far, the checkpoint that ended, and the next one (or LAST)."""


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
        """Return the queries of the checkpoints from `first` up to `end`, without `end`."""
        return [query for at, texts in self.checkpoints.items() if first <= at < end for query in texts]


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
    """The messages of a dialogue, and in `kept` a record that the benchmark stores with the dialogue."""

    spoken: Sequence[SpokenMessage]
    kept: Any = None


@dataclass(frozen=True)
class Event:
    """Messages that arrive together. In an exchange, the assistant replies to each message in turn.

    Given messages are written in groups of `together`; 0 writes all at once. A checkpoint has no messages; the player
    calls `reached` with the memory. A dialogue starts without messages; `lead` generates them. Consecutive dialogues of
    one checkpoint run concurrently on the memory before the first, and are then written in order, each in one write.
    """

    number: int
    checkpoint: int
    kind: Literal["exchange", "given", "checkpoint", "dialogue"]
    messages: tuple[Message, ...]
    follow_ups: int = 0
    follow_up: FollowUp | None = None
    together: int = 0
    reached: CheckpointHandler | None = None
    lead: DialogueRunner | None = None


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
    """A message of a played episode. The last message of a write stores the duration of the write (timing.py)."""

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


@dataclass
class PlayedEpisode:
    """The result of playing an episode: its messages, the memory's final EntryStore, and records of its dialogues."""

    episode_id: str
    lines: list[PlayedMessage]
    store: EntryStore
    kept: list[Any] = field(default_factory=list)


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
class _Stage:
    episode: Episode
    memory: Memory
    replier: Replier | None
    clock: Clock | None = None
    queries: EpisodeQueries = field(default_factory=EpisodeQueries)
    lines: list[PlayedMessage] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)

    async def announce(self, queries: Sequence[str]) -> None:
        """Pass queries that are asked as of now to a memory with state outside its store."""
        if queries and isinstance(self.memory, ExternalMemory):
            await self.memory.on_checkpoint(queries)

    async def live(self, event: Event) -> None:
        if event.reached is not None:
            await event.reached(self.memory)
            return
        if event.kind == "given":
            given = [SpokenMessage(message, "given") for message in event.messages]
            size = event.together or len(given)
            for first in range(0, len(given), size):
                await self._write(event, given[first : first + size], first=first)
            return
        said: list[Message] = []
        for message in event.messages:
            answered = await self._exchange(event, SpokenMessage(message, "given"), said)
            for _ in range(event.follow_ups):
                if not answered or event.follow_up is None:
                    break
                answer = await event.follow_up(said)
                following = self._spoken(event, "simulator", answer, message, said)
                if answer.value is None:
                    self._lose(event, following, len(said))
                    break
                answered = await self._exchange(event, following, said)

    async def lead(self, events: Sequence[Event], lived: Callable[[], None]) -> None:
        """Run dialogues concurrently on the unchanged memory, then write their messages to the memory."""
        replier = self._require_replier()

        failed: list[str] = []

        async def read(query: str) -> Recall:
            recall = await self._recall(query)
            failed.extend(recall.failed)
            return recall

        async def one(event: Event) -> Dialogue:
            if event.lead is None:
                raise BadInput(
                    f"event {event.number} of episode {self.episode.episode_id} is a dialogue without a user "
                    "(`lead` is None). Fix the benchmark's episodes."
                )
            led = await event.lead(read, replier.chat)
            lived()
            return led

        dialogues = await asyncio.gather(*map(one, events))
        self._record_failures(sorted(failed))  # sorted, since the order of concurrent reads varies
        for event, led in zip(events, dialogues, strict=True):
            came = [spoken for spoken in led.spoken if spoken.reason is None]
            if came:
                await self._write(event, came)
            for place, lost in enumerate(one for one in led.spoken if one.reason is not None):
                self._lose(event, lost, len(came) + place)
            self.kept.append(led.kept)

    async def _exchange(self, event: Event, spoken: SpokenMessage, said: list[Message]) -> bool:
        """Recall, reply, and write both messages. If the reply fails, write the user's message and return False."""
        replier = self._require_replier()
        # What reading changes belongs to this message, not to the checkpoint that may lie before it.
        self.memory.store.advance(1)
        answer = await self._reply(replier, spoken.message)
        said.append(spoken.message)
        reply = self._spoken(event, "assistant", answer, spoken.message, said)
        if answer.value is None:
            await self._write(event, [spoken], first=len(said) - 1, counted=1)
            self._lose(event, reply, len(said))
            return False
        said.append(reply.message)
        await self._write(event, [spoken, reply], first=len(said) - 2, counted=1)
        return True

    def _require_replier(self) -> Replier:
        if self.replier is None:
            raise BadInput(
                f"episode {self.episode.episode_id} contains messages that need a reply, but no answering "
                "model is configured. Set the role backbone."
            )
        return self.replier

    async def _reply(self, replier: Replier, message: Message) -> Answer[str]:
        try:
            recall = await self._recall(message.text, frozen=False)
        except RecallFailed as failed:
            return Answer(None, str(failed))
        self._record_failures(recall.failed)
        return await replier.reply(recall, message)

    def _record_failures(self, reasons: Iterable[str]) -> None:
        for reason in reasons:
            self.memory.store.add(FAILURE, reason, sources=())

    async def _write(
        self, event: Event, round_: Sequence[SpokenMessage], first: int = 0, counted: int = 0
    ) -> None:
        """Write messages to the memory. The sequence number already includes the first `counted` messages."""
        sequence = self.memory.store.sequence - counted
        # A probe that follows a message within the write sees the memory before the write.
        following = [self.queries.messages.get(one.message.message_id, ()) for one in round_]
        await self.announce([query for texts in following[:-1] for query in texts])
        for index, one in enumerate(round_):
            line = PlayedMessage(
                one.message, event, first + index, sequence + index, one.origin, one.completion, cut=one.cut
            )
            self.lines.append(line)
        self.memory.store.advance(len(round_) - counted)
        _, took = await timed(self._remember([one.message for one in round_]), self.clock)
        if took is not None:
            self.lines[-1] = replace(
                self.lines[-1], models_s=took.models, own_s=took.own, model_calls=took.calls
            )
        await self.announce(following[-1])

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
            self.memory.store.add(FAILURE, str(error), sources=[one.message_id for one in messages])

    def _lose(self, event: Event, lost: SpokenMessage, position: int) -> None:
        sequence = self.memory.store.sequence
        reason = lost.reason or "no answer"
        self.lines.append(
            PlayedMessage(lost.message, event, position, sequence, lost.origin, lost.completion, reason)
        )

    def _spoken(
        self, event: Event, origin: Origin, answer: Answer[str], after: Message, said: Sequence[Message]
    ) -> SpokenMessage:
        role: Literal["user", "assistant"] = "assistant" if origin == "assistant" else "user"
        message = Message(self._next_id(event, said), role, answer.value or "", sent_at=after.sent_at)
        digest = answer.completion.digest if answer.completion else None
        return SpokenMessage(message, origin, digest, answer.reason, answer.cut)

    def _next_id(self, event: Event, said: Sequence[Message]) -> str:
        return f"{event.messages[0].message_id}+{len(said)}"


async def play(
    episode: Episode,
    memory: Memory,
    replier: Replier | None,
    lived: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
    ended: AfterCheckpoint | None = None,
    queries: EpisodeQueries | None = None,
    is_base: bool = False,
    observer: PlayObserver | None = None,
) -> PlayedEpisode:
    """Play one episode in order, and return the played episode.

    `lived` is called after every event except checkpoints, `ended` after the last event of each checkpoint. With a
    `clock`, writes are timed. A memory with state outside its store gets `queries` when they are asked, and whether
    the episode `is_base` of another. The `observer` reads the memory.
    """
    EPISODE.set(episode.episode_id)
    stage = _Stage(episode, memory, replier, clock, queries or EpisodeQueries())
    if not isinstance(memory, ExternalMemory):
        return await _play(stage, lived, ended, observer)
    try:
        await memory.on_start(episode.episode_id)
        played = await _play(stage, lived, ended, observer)
        await memory.on_end(is_base)
    except BaseException:
        memory.on_abort()
        raise
    return played


async def _play(
    stage: _Stage,
    lived: Callable[[], None],
    ended: AfterCheckpoint | None,
    observer: PlayObserver | None,
) -> PlayedEpisode:
    events, memory, episode_id = stage.episode.events, stage.memory, stage.episode.episode_id
    played = PlayedEpisode(episode_id, stage.lines, memory.store, stage.kept)
    remaining = len(events)
    first = events[0].checkpoint if events else LAST
    await stage.announce(stage.queries.between(0, first))
    for checkpoint, following, of_checkpoint in _checkpoints(events):
        for kind, group in groupby(of_checkpoint, key=lambda event: event.kind):
            REMAINING.set(remaining)
            if kind == "dialogue":
                dialogues = list(group)
                await stage.lead(dialogues, lived)
                remaining -= len(dialogues)
                continue
            for event in group:
                REMAINING.set(remaining)
                await stage.live(event)
                if observer is not None and remaining == len(events):
                    await observer.after_first_event(memory, episode_id)
                remaining -= 1
                if kind != "checkpoint":
                    lived()
        await stage.announce(stage.queries.between(checkpoint, following))
        if observer is not None:
            await observer.at_checkpoint(memory, episode_id, checkpoint)
        if ended is not None:
            ended(played, checkpoint, following)
    if observer is not None:
        await observer.at_end(memory, episode_id)
    return played


def _checkpoints(events: Sequence[Event]) -> Iterator[tuple[int, int, list[Event]]]:
    """Yield (checkpoint, next checkpoint, events of the checkpoint) for each checkpoint."""
    groups = [(at, list(group)) for at, group in groupby(events, key=lambda event: event.checkpoint)]
    # An episode without events has no group, and LAST alone follows.
    for (at, group), following in zip(groups, [*(at for at, _ in groups[1:]), LAST], strict=False):
        yield at, following, group


async def play_all(
    episodes: Iterable[Episode],
    remember: Callable[[EntryStore], Memory],
    replier: Replier | None,
    *,
    lived: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
    ended: AfterCheckpoint | None = None,
    queries: Mapping[str, EpisodeQueries] = MappingProxyType({}),
    observer: PlayObserver | None = None,
) -> list[PlayedEpisode]:
    """Play episodes concurrently in this event loop, and return them in order; the chat limits concurrent requests.

    An episode with a base waits for the base and continues from a copy of its final store. `remember` creates a memory
    on a store. `lived`, `clock`, `ended`, `observer` and the `queries` of an episode are passed to `play`. Raises
    BadInput for an unknown base.
    """
    episodes = list(episodes)
    bases = {episode.base for episode in episodes}
    running: dict[str, asyncio.Task[PlayedEpisode]] = {}

    async def run(episode: Episode) -> PlayedEpisode:
        store = EntryStore()
        if episode.base is not None:
            if episode.base not in running:
                raise BadInput(
                    f"the base episode {episode.base} of the episode {episode.episode_id} is not listed before it. "
                    "Add the base episode before the episode."
                )
            store = (await running[episode.base]).store.fork()
        of_episode, is_base = queries.get(episode.episode_id), episode.episode_id in bases
        return await play(
            episode, remember(store), replier, lived, clock, ended, of_episode, is_base, observer
        )

    for episode in episodes:
        running[episode.episode_id] = asyncio.ensure_future(run(episode))
    try:
        return list(await asyncio.gather(*running.values()))
    finally:
        for task in running.values():
            task.cancel()
