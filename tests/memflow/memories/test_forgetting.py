"""Requests to forget, and what memories end on them."""

from dataclasses import dataclass, field

import pytest
from memory_helpers import case

from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadInput, CannotForget
from memflow.memories.baselines import Recent
from memflow.memories.entries import EntryStore
from memflow.memories.forgetting import FORMS, ForgetRequest
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Message, Tools
from memflow.memories.registry import memory_factory
from memflow.memories.retrieval import Lexical
from memflow.memories.systems import SYSTEMS
from memflow.run.handlers import handlers
from memflow.run.play import Episode, Event, play

SAID = [
    Message("u/0", "user", "I was diagnosed with diabetes.", sent_at="2024-05-01 10:00"),
    Message("u/1", "assistant", "I am sorry to hear that.", sent_at="2024-05-01 10:01"),
    Message("u/2", "user", "My sister has asthma.", sent_at="2024年5月2日 8点13分"),
]


def _texts(memory: Lexical) -> list[str]:
    return [item.text.partition(": ")[2] for item in memory.store.live()]


async def _filled() -> Lexical:
    memory = Lexical()
    memory.store.advance(3)
    await memory.write(SAID)
    return memory


@pytest.mark.parametrize(
    ("request_", "ended"),
    [
        (ForgetRequest("message", ("u/0", "never")), {0}),
        (ForgetRequest("text", text="my Diabetes"), {0}),
        (ForgetRequest("text", text="cancer"), set()),
        (ForgetRequest("time", since="2024-05-02", until="2024-05-02"), {2}),
        (ForgetRequest("time", until="2024-05-01"), {0, 1}),
        (ForgetRequest("time"), {0, 1, 2}),
    ],
)
async def test_forget_ends_the_named_entries_and_keeps_history(
    request_: ForgetRequest, ended: set[int]
) -> None:
    memory = await _filled()
    for _ in range(2):
        await memory.forget(request_.with_messages(SAID))
    assert _texts(memory) == [message.text for at, message in enumerate(SAID) if at not in ended]
    assert len([*memory.store]) == 3
    assert not {item.text for item in (await memory.read("diagnosed sister sorry")).entries} & {
        item.text for item in memory.store if item.until is not None
    }


def test_request_has_a_round_trip_as_json_without_defaults() -> None:
    request_ = ForgetRequest("message", ("a", "b"))
    assert request_.to_json() == '{"by":"message","message_ids":["a","b"]}'
    assert ForgetRequest.from_json(request_.to_json()) == request_


@pytest.mark.parametrize(
    "text",
    ['{"by":"smell"}', '{"by":"message"}', '{"by":"text","text":" "}', '{"by":"time","since":"soon"}', "no"],
)
def test_request_that_names_nothing_is_rejected_with_its_text(text: str) -> None:
    with pytest.raises(BadInput, match="the request to forget"):
        ForgetRequest.from_json(text)


@dataclass
class _Summaries(Lexical):
    derived_kinds = frozenset({"summary"})
    forgets = frozenset({"message"})
    seen: list[str] = field(default_factory=list)


async def test_derived_kinds_stay_and_a_form_without_an_operation_is_refused() -> None:
    memory = _Summaries()
    await memory.write(SAID)
    memory.store.add("summary", "has diabetes", sources=["u/0"])
    await memory.forget(ForgetRequest("message", ("u/0",)))
    assert [item.kind for item in memory.store.live()] == ["message", "message", "summary"]
    with pytest.raises(CannotForget, match="by text: it obeys requests by message"):
        await memory.forget(ForgetRequest("text", text="diabetes"))


async def test_buffer_of_turns_forgets_a_message() -> None:
    memory = Recent()
    await memory.write(SAID)
    await memory.forget(ForgetRequest("message", ("u/0",)))
    assert ["diabetes" in turn.content for turn in (await memory.read("")).messages] == [False, False]
    assert memory.forgets == FORMS


TALK = [
    ("My cat Miso is ill.", "Poor Miso."),
    ("I was diagnosed with diabetes.", "I am sorry."),
    ("My sister Ana lives in Oslo.", "Oslo is lovely."),
    ("My colleague Ben plays chess.", "Chess is a fine game."),
    ("Forget my diagnosis, please.", "Of course."),
    ("I bought a red bicycle.", "Enjoy it."),
    ("Tomorrow I travel to Rome.", "Have a good trip."),
]


@pytest.mark.parametrize(
    "name", [case(system, name) for name, system in SYSTEMS.items() if system.memory.needs_playing]
)
async def test_shipped_memory_that_forgot_is_restored_and_goes_on(name: str) -> None:
    events = tuple(
        Event(
            at,
            at,
            "given",
            tuple(
                Message(f"m{at}{role[0]}", role, text, sent_at=f"2024-05-0{at + 1}")  # type: ignore[arg-type]
                for role, text in zip(("user", "assistant"), pair, strict=True)
            ),
            forgets={"m4u": ForgetRequest("time", since="2024-05-02", until="2024-05-02")},
        )
        for at, pair in enumerate(TALK)
    )
    tools = Tools(ScriptedChat(handlers()), HashingEmbedder())
    create = memory_factory(name, tools)
    memory = create(EntryStore())
    query = "What do you know about me, Ana, Miso and diabetes?"
    for first, last in ((0, 5), (5, 7)):
        played = await play(Episode("e", events[first:last]), memory, None)
        restored = create(EntryStore.restored([*memory.store], memory.store.sequence))
        recalls = [await each.read(query) for each in (memory, restored)]
        assert recalls[0].notes == recalls[1].notes and recalls[0].messages == recalls[1].messages
        if first == 0:
            [asking] = [line for line in played.lines if line.forgets]
            assert (asking.forget_failure is None) == (memory.forgets == FORMS)
            assert asking.forget_failure is None or memory.cannot_forget in asking.forget_failure
    exempt = memory.bookkeeping_kinds | memory.derived_kinds
    left = [item for item in memory.store.live() if item.kind not in exempt and "m1u" in item.sources]
    assert not (left and memory.forgets)
    earlier = EntryStore.restored([*memory.store], 8).live()
    assert any("m1u" in item.sources for item in earlier) or name in ("recent", "vanilla")
