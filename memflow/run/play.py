"""The player: one episode and one memory, lived through in order.

It gives the memory what was said, asks the assistant where a reply is wanted, lets the simulator speak again, and
keeps the transcript. It asks no probes: since entries carry `since` and `until`, any checkpoint can be restored and
asked afterwards (answer.py). Which benchmark an episode comes from, the player does not know; nor what happens when
the memory reaches an event of kind `checkpoint` (evolution.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Literal

from memflow.chat.asking import Answer, ask
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.errors import BadInput, RecallFailed
from memflow.memories.entries import EntryStore
from memflow.memories.memory import Memory, Message, Recall
from memflow.run.timing import Clock, measured

Origin = Literal["given", "assistant", "simulator"]
FollowUp = Callable[[Sequence[Message]], Awaitable[Answer[str]]]
"""The simulator's next words after a dialogue: bound to its event, so that it may know what a memory may not."""
Reached = Callable[[Memory], Awaitable[None]]
"""What happens at a checkpoint, to the living memory: bound to its event, for the same reason."""
Read = Callable[[str], Awaitable[Recall]]
"""A frozen read of the memory. Raises RecallFailed."""
Lead = Callable[[Read, Chat], Awaitable["Led"]]
"""Leads a dialogue with the assistant's model, who sees what is read: bound to its event, for the same reason."""


@dataclass(frozen=True)
class Spoken:
    """A message and who made it; with a reason, one that never came."""

    message: Message
    origin: Origin
    completion: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Led:
    """A dialogue that was led: what was said in it, and what its benchmark keeps of it besides."""

    spoken: Sequence[Spoken]
    kept: Any = None


@dataclass(frozen=True)
class Event:
    """Messages that arrive together; for an exchange, the assistant replies to each of them in turn.

    Given messages arrive `together` so many at a time, 0 for all at once: a recorded dialogue by rounds of two.
    A checkpoint has no messages: `reached` is called with the memory. A dialogue has none yet: `lead` makes them.
    Dialogues of one checkpoint that stand one after another are led all at once, each with the memory as it was
    before the first of them, and are then written in their order, all that was said in one together.
    """

    number: int
    checkpoint: int
    kind: Literal["exchange", "given", "checkpoint", "dialogue"]
    messages: tuple[Message, ...]
    follow_ups: int = 0
    follow_up: FollowUp | None = None
    together: int = 0
    reached: Reached | None = None
    lead: Lead | None = None


@dataclass(frozen=True)
class Episode:
    """A stream of events in order. `base` names the episode on whose final memory this one is built."""

    episode_id: str
    events: tuple[Event, ...]
    base: str | None = None


@dataclass(frozen=True)
class Line:
    """One message as it was played; the last of a write has what the write took (timing.py)."""

    message: Message
    event: Event
    position: int
    sequence: int
    origin: Origin
    completion: str | None = None
    reason: str | None = None
    models_s: float | None = None
    own_s: float | None = None
    model_calls: int | None = None


@dataclass
class Played:
    """An episode as it was lived: its lines, its store at the end, and what was kept of its dialogues, in order."""

    episode_id: str
    lines: list[Line]
    store: EntryStore
    kept: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Replier:
    """How the assistant replies while an episode is played: the model, its prompt, and the fields of one reply."""

    chat: Chat
    prompt: Prompt
    fields: Callable[[Recall, Message], Mapping[str, Any]]
    prompt_with_notes: Prompt | None = None
    """Stands in for `prompt` where the memory gave notes: they need words around them that nothing else needs."""

    async def reply(self, recall: Recall, message: Message) -> Answer[str]:
        """The assistant's reply to `message` with what was recalled."""
        prompt = (self.prompt_with_notes if recall.notes else None) or self.prompt
        return await ask(self.chat, prompt, self.fields(recall, message), recall.messages)


@dataclass
class _Stage:
    episode: Episode
    memory: Memory
    replier: Replier | None
    clock: Clock | None = None
    lines: list[Line] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)

    async def live(self, event: Event) -> None:
        if event.reached is not None:
            await event.reached(self.memory)
            return
        if event.kind == "given":
            given = [Spoken(message, "given") for message in event.messages]
            size = event.together or len(given)
            for first in range(0, len(given), size):
                await self._write(event, given[first : first + size], first=first)
            return
        said: list[Message] = []
        for message in event.messages:
            answered = await self._exchange(event, Spoken(message, "given"), said)
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
        """Several dialogues at once on the memory as it is; nothing is written before the last of them has ended."""
        replier = self._asked()

        async def read(query: str) -> Recall:
            return await self.memory.read(query)

        async def one(event: Event) -> Led:
            if event.lead is None:
                raise BadInput(
                    f"event {event.number} of {self.episode.episode_id} is a dialogue nobody leads"
                )
            led = await event.lead(read, replier.chat)
            lived()
            return led

        for event, led in zip(events, await asyncio.gather(*map(one, events)), strict=True):
            came = [spoken for spoken in led.spoken if spoken.reason is None]
            if came:
                await self._write(event, came)
            for place, lost in enumerate(one for one in led.spoken if one.reason is not None):
                self._lose(event, lost, len(came) + place)
            self.kept.append(led.kept)

    async def _exchange(self, event: Event, spoken: Spoken, said: list[Message]) -> bool:
        """One round: recall, reply, write both. False when no reply was to be had; what was said is written still."""
        replier = self._asked()
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

    def _asked(self) -> Replier:
        if self.replier is None:
            raise BadInput(
                f"episode {self.episode.episode_id} wants replies, but no answering model was given"
            )
        return self.replier

    async def _reply(self, replier: Replier, message: Message) -> Answer[str]:
        try:
            recall = await self.memory.read(message.text, frozen=False)
        except RecallFailed as failed:
            return Answer(None, str(failed))
        return await replier.reply(recall, message)

    async def _write(self, event: Event, round_: Sequence[Spoken], first: int = 0, counted: int = 0) -> None:
        """Give messages to the memory; time has moved past the first `counted` of them already."""
        sequence = self.memory.store.sequence - counted
        for index, one in enumerate(round_):
            line = Line(one.message, event, first + index, sequence + index, one.origin, one.completion)
            self.lines.append(line)
        self.memory.store.advance(len(round_) - counted)
        _, took = await measured(self.memory.write([one.message for one in round_]), self.clock)
        if took is not None:
            self.lines[-1] = replace(
                self.lines[-1], models_s=took.models, own_s=took.own, model_calls=took.calls
            )

    def _lose(self, event: Event, lost: Spoken, position: int) -> None:
        sequence = self.memory.store.sequence
        reason = lost.reason or "no answer"
        self.lines.append(Line(lost.message, event, position, sequence, lost.origin, lost.completion, reason))

    def _spoken(
        self, event: Event, origin: Origin, answer: Answer[str], after: Message, said: Sequence[Message]
    ) -> Spoken:
        role: Literal["user", "assistant"] = "assistant" if origin == "assistant" else "user"
        message = Message(self._next_id(event, said), role, answer.value or "", sent_at=after.sent_at)
        digest = answer.completion.digest if answer.completion else None
        return Spoken(message, origin, digest, answer.reason)

    def _next_id(self, event: Event, said: Sequence[Message]) -> str:
        return f"{event.messages[0].message_id}+{len(said)}"


async def play(
    episode: Episode,
    memory: Memory,
    replier: Replier | None,
    lived: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
) -> Played:
    """Live through one episode, strictly in order. `lived` is called after every event but checkpoints. With a
    `clock`, writing is measured."""
    stage = _Stage(episode, memory, replier, clock)
    for (kind, _), events in groupby(episode.events, key=lambda event: (event.kind, event.checkpoint)):
        if kind == "dialogue":
            await stage.lead(list(events), lived)
            continue
        for event in events:
            await stage.live(event)
            if kind != "checkpoint":
                lived()
    return Played(episode.episode_id, stage.lines, memory.store, stage.kept)


async def play_all(
    episodes: Iterable[Episode],
    remember: Callable[[EntryStore], Memory],
    replier: Replier | None,
    *,
    lived: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
) -> list[Played]:
    """All episodes at once in this event loop; what bounds the requests in flight is the chat's own limit.

    An episode with a base waits for it and goes on from a fork of its final store. `remember` makes the memory on a
    store. Results come in the order of `episodes`. With a `clock`, writing is measured.
    """
    episodes = list(episodes)
    running: dict[str, asyncio.Task[Played]] = {}

    async def run(episode: Episode) -> Played:
        store = EntryStore()
        if episode.base is not None:
            if episode.base not in running:
                raise BadInput(f"episode {episode.episode_id} is built on {episode.base}, which is not there")
            store = (await running[episode.base]).store.fork()
        return await play(episode, remember(store), replier, lived, clock)

    for episode in episodes:
        running[episode.episode_id] = asyncio.ensure_future(run(episode))
    try:
        return list(await asyncio.gather(*running.values()))
    finally:
        for task in running.values():
            task.cancel()
