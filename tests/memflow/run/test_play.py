"""The player: order and time of writes, follow-ups, forks, dialogues and failed replies."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from memflow.chat.asking import Answer, ask
from memflow.chat.prompts import parse
from memflow.chat.requests import Chat, ChatRequest, Completion, Sampling, TokenBound
from memflow.errors import BadInput, ChatError, EndpointDown, RequestRefused
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.memory import FAILURE, Memory, Message, Recall
from memflow.run.play import Dialogue, Episode, Event, ReadMemory, Replier, SpokenMessage, play, play_all
from memflow.timing import count_completion

PROMPT = parse("---\nname: test/reply\nfields: [text]\n---\n# user\n$text\n", "memflow.chat", "here")


@dataclass
class Notebook(Memory):
    """A memory that stores every message as an entry and records the messages of each write."""

    given: list[list[str]] = field(default_factory=list)

    async def write(self, messages: Sequence[Message]) -> None:
        self.given.append([message.message_id for message in messages])
        for message in messages:
            self.store.add("message", message.text, sources=[message.message_id])

    async def read(self, query: str, frozen: bool = True) -> Recall:
        return Recall(entries=tuple(self.store.live()))


class Echo:
    """A chat that repeats its request and rejects texts that contain `refuse`."""

    fingerprint = "echo"
    sampling = Sampling()
    bound = TokenBound()
    scripted = True

    async def complete(self, request: ChatRequest) -> Completion:
        text = request.messages[-1].content
        if "refuse" in text:
            raise RequestRefused("too long")
        return Completion(f"re: {text}", digest=f"digest of {text}")


def replier() -> Replier:
    return Replier(Echo(), PROMPT, lambda recall, message: {"text": message.text})


def event(
    number: int, text: str, *, follow_ups: int = 0, kind: str = "exchange", checkpoint: int = 0
) -> Event:
    async def follow_up(said: Sequence[Message]) -> Answer[str]:
        return Answer(f"and {len(said)}")

    message = Message(f"u/{number}", "user", text)
    return Event(number, checkpoint, kind, (message,), follow_ups, follow_up)  # type: ignore[arg-type]


async def test_play_writes_message_and_reply_together_and_follow_ups_later() -> None:
    memory = Notebook()
    played = await play(Episode("u", (event(0, "hello", follow_ups=1), event(1, "bye"))), memory, replier())
    assert memory.given == [["u/0", "u/0+1"], ["u/0+2", "u/0+3"], ["u/1", "u/1+1"]]
    assert [(line.message.text, line.origin) for line in played.lines] == [
        ("hello", "given"),
        ("re: hello", "assistant"),
        ("and 2", "simulator"),
        ("re: and 2", "assistant"),
        ("bye", "given"),
        ("re: bye", "assistant"),
    ]
    assert [line.sequence for line in played.lines] == [0, 1, 2, 3, 4, 5]
    assert [item.since for item in played.store] == [2, 2, 4, 4, 6, 6]
    assert played.lines[1].completion == "digest of hello"


async def test_play_records_a_reason_for_a_failed_reply_and_continues_the_episode() -> None:
    memory = Notebook()
    played = await play(Episode("u", (event(0, "refuse", follow_ups=1), event(1, "bye"))), memory, replier())
    assert [line.message.text for line in played.lines if line.reason is None] == ["refuse", "bye", "re: bye"]
    (lost,) = [line for line in played.lines if line.reason is not None]
    assert lost.origin == "assistant" and "too long" in str(lost.reason)
    assert memory.given == [["u/0"], ["u/1", "u/1+1"]]


async def test_play_rejects_an_exchange_without_an_answering_model() -> None:
    with pytest.raises(BadInput, match="no answering model"):
        await play(Episode("u", (event(0, "hello"),)), Notebook(), None)


async def test_episode_continues_from_a_copy_of_the_memory_of_its_base() -> None:
    base = Episode("base", (event(0, "shared", kind="given"),))
    left = Episode("left", (event(1, "left", kind="given"),), base="base")
    right = Episode("right", (event(2, "right", kind="given"),), base="base")
    played = await play_all([base, left, right], Notebook, None)
    texts = [[item.text for item in each.store] for each in played]
    assert texts == [["shared"], ["shared", "left"], ["shared", "right"]]
    assert [each.store.sequence for each in played] == [1, 2, 2]


def dialogue(number: int, text: str, *, checkpoint: int = 0, wait: int = 0) -> Event:
    """Return a dialogue event of a question and an answer, which records the number of recalled entries."""

    async def lead(read: ReadMemory, chat: Chat) -> Dialogue:
        recall = await read(text)
        for _ in range(wait):
            await asyncio.sleep(0)
        answer = await ask(chat, PROMPT, {"text": text})
        said = SpokenMessage(Message(f"d/{number}", "user", text), "given")
        reply = Message(f"d/{number}+1", "assistant", answer.value or "")
        return Dialogue(
            (said, SpokenMessage(reply, "assistant", None, answer.reason)), (number, len(recall.entries))
        )

    return Event(number, checkpoint, "dialogue", (), lead=lead)


async def test_dialogues_of_a_checkpoint_read_the_same_memory_and_write_in_order() -> None:
    memory, lived = Notebook(), list[int]()
    events = (
        event(0, "before", kind="given"),
        dialogue(1, "slow", checkpoint=1, wait=5),
        dialogue(2, "quick", checkpoint=1),
        dialogue(3, "next", checkpoint=2),
    )
    played = await play(Episode("d", events), memory, replier(), lambda: lived.append(1))
    assert memory.given == [["u/0"], ["d/1", "d/1+1"], ["d/2", "d/2+1"], ["d/3", "d/3+1"]]
    assert played.records == [(1, 1), (2, 1), (3, 5)], (
        "the quick one must not see the slow one, nor the reverse"
    )
    assert [line.sequence for line in played.lines] == list(range(7))
    assert [line.event.checkpoint for line in played.lines] == [0, 1, 1, 1, 1, 2, 2]
    assert len(lived) == 4


async def test_failed_dialogue_reply_has_a_reason_and_is_not_written_to_memory() -> None:
    memory = Notebook()
    played = await play(Episode("d", (dialogue(0, "refuse"), dialogue(1, "bye"))), memory, replier())
    assert memory.given == [["d/0"], ["d/1", "d/1+1"]]
    (lost,) = [line for line in played.lines if line.reason is not None]
    assert (lost.message.message_id, lost.position, lost.sequence) == ("d/0+1", 1, 1)
    assert "too long" in str(lost.reason)


async def test_dialogue_reads_the_memory_with_the_frozen_flag() -> None:
    reads: list[bool] = []

    class Watched(Notebook):
        async def read(self, query: str, frozen: bool = True) -> Recall:
            reads.append(frozen)
            return Recall()

    await play(Episode("d", (dialogue(0, "one"), dialogue(1, "two"))), Watched(), replier())
    assert reads == [True, True]


async def test_invalid_items_of_reads_are_recorded_as_memory_failures() -> None:
    class Partial(Notebook):
        async def read(self, query: str, frozen: bool = True) -> Recall:
            return Recall(failed=(f"no search for {query}",))

    memory = Partial()
    events = (event(0, "Hello"), dialogue(1, "B", checkpoint=1), dialogue(2, "A", wait=3, checkpoint=1))
    await play(Episode("d", events), memory, replier())
    failures = [(item.text, item.since) for item in memory.store.live(FAILURE)]
    assert failures == [("no search for Hello", 1), ("no search for A", 2), ("no search for B", 2)]


async def test_last_message_of_a_write_has_the_time_and_calls_of_the_write() -> None:
    now = 0.0

    @dataclass
    class Slow(Notebook):
        async def write(self, messages: Sequence[Message]) -> None:
            nonlocal now
            now += len(messages)
            await count_completion(Thinking().complete())

    class Thinking:
        async def complete(self) -> Completion:
            return Completion("yes", latency_s=7.0)

    messages = tuple(Message(f"s/{index}", "user", str(index)) for index in range(3))
    episode = Episode("s", (Event(0, 0, "given", messages, together=2),))
    played = await play(episode, Slow(), None, clock=lambda: now)
    assert [(line.models_s, line.own_s, line.model_calls) for line in played.lines] == [
        (None, None, None),
        (7.0, 2.0, 1),
        (7.0, 1.0, 1),
    ]
    unmeasured = await play(episode, Slow(), None)
    assert {line.own_s for line in unmeasured.lines} == {None}


class Embedding(Notebook):
    """A notebook whose embedder fails with `error` for texts that contain `odd`."""

    error: ChatError = ChatError("the embedder kept failing")

    async def write(self, messages: Sequence[Message]) -> None:
        await self.read(messages[0].text)
        await super().write(messages)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        if "odd" in query:
            raise self.error
        return await super().read(query, frozen)


async def test_episode_continues_after_failed_embedding_with_failure_entry_and_reason() -> None:
    events = [event(0, "one"), event(1, "an odd one"), event(2, "three")]
    played = await play(Episode("e", events), Embedding(), replier())
    assert [line.reason for line in played.lines if line.reason] == ["the embedder kept failing"]
    failures = [item for item in played.store if item.kind == FAILURE]
    assert [(item.text, item.sources) for item in failures] == [("the embedder kept failing", ("u/1",))]
    assert "three" in {item.text for item in played.store}


@dataclass
class Forgetful(Notebook):
    """A notebook that forgets by message, and raises for the message `bad`."""

    forgets = frozenset({"message", "time"})

    async def forget(self, request: ForgetRequest) -> None:
        if "bad" in request.message_ids:
            raise KeyError("bad")
        await super().forget(request)


async def test_play_passes_requests_to_forget_and_records_what_came_of_them() -> None:
    requests = [
        ForgetRequest("message", ("u/0",)),
        ForgetRequest("message", ("u/0",)),
        ForgetRequest("message", ("bad",)),
        ForgetRequest("text", text="hello"),
        ForgetRequest("time", since="2024-05-01"),
    ]
    events = [event(0, "hello"), *(event(number, f"forget {number}") for number in range(1, 6))]
    events[1:] = [
        replace(asking, forgets={asking.messages[0].message_id: request})
        for asking, request in zip(events[1:], requests, strict=True)
    ]
    memory = Forgetful()
    played = await play(Episode("u", tuple(events)), memory, replier(), clock=lambda: 0.0)
    asking = [line for line in played.lines if line.forgets]
    assert [ForgetRequest.from_json(line.forgets or "") for line in asking] == requests
    assert [(line.ended_entries, line.forget_failure) for line in asking] == [
        (1, None),
        (0, None),
        (None, "the memory failed to forget: KeyError: 'bad'"),
        (None, "not forgotten by text: it obeys requests by message, time"),
        (0, None),
    ]
    assert [line.message.message_id for line in asking] == [f"u/{number}" for number in range(1, 6)]
    assert asking[0].forget_calls == 0
    assert [item.text for item in played.store if item.until is not None] == ["hello"]
    assert len(played.lines) == 12


async def test_episode_stops_if_the_embedder_is_unreachable() -> None:
    memory = Embedding()
    memory.error = EndpointDown("cannot connect")
    with pytest.raises(EndpointDown):
        await play(Episode("e", [event(0, "an odd one")]), memory, replier())
