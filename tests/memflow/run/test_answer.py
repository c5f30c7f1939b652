"""Answering of probes: release of memories, failed recalls, and probes after a given message."""

import asyncio
import gc
import weakref
from dataclasses import replace

import pytest
from factories import row

from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.registry import find_domain
from memflow.chat.requests import Completion, Sampling, TokenBound
from memflow.errors import EndpointDown, RecallFailed
from memflow.memories.baselines import Nothing, Oracle, PreviousState
from memflow.memories.entries import Item
from memflow.memories.memory import Recall
from memflow.records import Entry, Probe, TranscriptMessage
from memflow.run import answer
from memflow.run.answer import EpisodeHistory, answer_all
from memflow.run.transcripts import episode_histories

DOMAIN = find_domain("membench_memdaily")


def probe(number: int, checkpoint: int) -> Probe:
    return row(
        Probe, probe_id=f"p{number}", episode_id="e", checkpoint=checkpoint, options=["a", "b"], revealed="a"
    )


class Waiting:
    """A chat that answers after a signal and reports when a given number of requests wait."""

    fingerprint, scripted, sampling, bound = "waiting", True, Sampling(), TokenBound()

    def __init__(self, expected: int = 0) -> None:
        self.expected, self.asked = expected, 0
        self.full, self.go = asyncio.Event(), asyncio.Event()

    async def complete(self, request):
        self.asked += 1
        if self.asked == self.expected:
            self.full.set()
        await self.go.wait()
        return Completion('{"choice": "A"}', "stop")


async def test_answer_all_releases_each_memory_and_history_after_reading():
    made: list[weakref.ref[Nothing]] = []

    def remember(store):
        memory = Nothing(store)
        made.append(weakref.ref(memory))
        return memory

    chat = Waiting(800)
    probes = [probe(2 * at + twice, at) for at in range(400) for twice in (0, 1)]
    pasts = {"e": EpisodeHistory([], dict.fromkeys(range(400), 0))}
    history = weakref.ref(pasts["e"])
    answering = asyncio.ensure_future(answer_all(MemBench(), DOMAIN, "a", probes, pasts, remember, chat))
    del pasts
    await asyncio.wait_for(chat.full.wait(), 30)
    gc.collect()
    assert history() is None
    assert len(made) == 400  # one for both probes of a checkpoint
    assert not any(memory() for memory in made)
    chat.go.set()
    assert [reply.parsed for reply in await answering] == ["1"] * len(probes)


async def test_reply_has_a_reason_if_recall_fails_and_other_probes_are_answered():
    class Broken(Nothing):
        async def read(self, query, frozen=True):
            if self.store.sequence == 1:
                raise RecallFailed("it is broken")
            return await super().read(query, frozen)

    chat = Waiting()
    chat.go.set()
    pasts = {"e": EpisodeHistory([], {0: 1, 1: 2})}
    asked = [probe(0, 0), probe(1, 1), probe(2, 7)]
    replies = await answer_all(MemBench(), DOMAIN, "a", asked, pasts, Broken, chat)
    assert replies[0].reason == "recall for p0: RecallFailed: it is broken"
    assert replies[1].parsed == "1"
    assert replies[2].reason == "recall for p2: KeyError: 7"


async def test_reply_lists_the_reasons_of_invalid_items_in_the_recall():
    class Partial(Nothing):
        async def read(self, query, frozen=True):
            return Recall(failed=("a_mem/keywords: keywords, item 1: too long",))

    chat = Waiting()
    chat.go.set()
    pasts = {"e": EpisodeHistory([], {0: 0})}
    [reply] = await answer_all(MemBench(), DOMAIN, "a", [probe(0, 0)], pasts, Partial, chat)
    assert reply.recall_failures == ["a_mem/keywords: keywords, item 1: too long"]
    assert (reply.parsed, reply.reason) == ("1", None)


async def test_running_probes_are_bounded_and_replies_keep_the_order_of_probes(monkeypatch):
    monkeypatch.setattr(answer, "RUNNING", 5)
    chat, probes = Waiting(5), [probe(at, 0) for at in range(40)]
    pasts = {"e": EpisodeHistory([], {0: 0})}
    answering = asyncio.ensure_future(answer_all(MemBench(), DOMAIN, "a", probes, pasts, Nothing, chat))
    await asyncio.wait_for(chat.full.wait(), 30)
    for _ in range(100):
        await asyncio.sleep(0)
    assert chat.asked == 5
    chat.go.set()
    assert [reply.probe_id for reply in await answering] == [each.probe_id for each in probes]


async def test_unreachable_server_ends_all_probes_with_its_error():
    class Down(Waiting):
        async def complete(self, request):
            self.asked += 1
            if self.asked == 3:
                raise EndpointDown("no server")
            await asyncio.Event().wait()

    chat, pasts = Down(), {"e": EpisodeHistory([], {0: 0})}
    answering = answer_all(MemBench(), DOMAIN, "a", [probe(at, 0) for at in range(500)], pasts, Nothing, chat)
    with pytest.raises(EndpointDown, match="no server"):
        await asyncio.wait_for(answering, 30)
    assert chat.asked <= 2 * answer.STARTED_TOGETHER
    assert len(asyncio.all_tasks()) == 1


class ContextChat(Waiting):
    """A chat that records the gold context of each request."""

    def __init__(self):
        super().__init__()
        self.contexts = []
        self.go.set()

    async def complete(self, request):
        self.contexts.append(request.fields.get("told"))
        return await super().complete(request)


@pytest.mark.parametrize(("memory", "contexts"), [(Nothing, [None]), (Oracle, ["a"]), (PreviousState, ["b"])])
async def test_only_oracle_and_previous_state_have_gold_in_the_prompt(memory, contexts):
    chat = ContextChat()
    asked = replace(probe(0, 0), previous="b")
    await answer_all(MemBench(), DOMAIN, "a", [asked], {}, memory, chat)
    assert chat.contexts == contexts


class Parrot(Nothing):
    """A memory that recalls the text of all its entries."""

    needs_playing = True

    async def read(self, query, frozen=True):
        return Recall(notes="|".join(item.text for item in self.store.live("said")))


class NotesChat(Waiting):
    """A chat that records the notes of each request."""

    def __init__(self):
        super().__init__()
        self.notes = []
        self.go.set()

    async def complete(self, request):
        self.notes.append(request.fields.get("notes", ""))
        return await super().complete(request)


LIFE = [Item(f"said-{at}", "said", f"m{at}", (f"m{at}",), since=at + 1, order=at) for at in range(6)]
# m0 and m1 before checkpoint 0, m2 to m5 before checkpoint 1.
SAID = [
    TranscriptMessage(
        domain="d", assistant="a", episode_id="e", checkpoint=int(at > 1), event=at, position=0,
        message_id=f"m{at}", role="user", text=f"m{at}", sequence=at, origin="given",
        reason="it was lost" if at == 4 else None,
    )
    for at in range(6)
]  # fmt: skip
ENTRIES = [
    Entry(
        domain="d", assistant="a", episode_id="e", entry_id=item.entry_id, kind=item.kind, text=item.text,
        sources=list(item.sources), since=item.since, until=5 if item.text == "m2" else None,
    )
    for item in LIFE
]  # fmt: skip


async def test_probe_asked_after_a_message_reads_the_memory_state_at_that_message():
    """Probes after the same message share one restored memory."""
    asked = [
        probe(0, 1),
        *(replace(probe(1 + at, 1), after=after) for at, after in enumerate(["m2", "m3", "m2", "m0"])),
    ]
    made: list[int] = []

    def remember(store):
        made.append(store.sequence)
        return Parrot(store)

    chat, pasts = NotesChat(), episode_histories(ENTRIES, SAID, asked)
    assert [pasts["e"].sequence(one) for one in asked] == [6, 3, 4, 3, 1]
    await answer_all(MemBench(), DOMAIN, "a", asked, pasts, remember, chat)
    # m2 is retired after the fifth message: it was held when the questions after m2 and m3 were asked.
    assert chat.notes == ["m0|m1|m3|m4|m5", "m0|m1|m2", "m0|m1|m2|m3", "m0|m1|m2", "m0"]
    assert sorted(made) == [1, 3, 4, 6]


async def test_reply_has_a_reason_if_the_message_before_the_probe_is_not_in_the_transcript():
    asked = [replace(probe(at, 1), after=after) for at, after in enumerate(["m4", "m9", "m3"])]
    elsewhere = [replace(probe(at, 1), after="m3", episode_id="f") for at in (3, 4)]
    chat, pasts = NotesChat(), episode_histories(ENTRIES, SAID, [*asked, *elsewhere])
    replies = await answer_all(MemBench(), DOMAIN, "a", [*asked, *elsewhere], pasts, Parrot, chat)
    assert [reply.reason and reply.reason.rpartition("BadInput: ")[2] for reply in replies] == [
        "the probe p0 follows the message m4, which was not played. Rerun the episode.",  # it was lost
        "the probe p1 follows the message m9, which was not played. Rerun the episode.",
        None,
        "the probe p3 follows the message m3, which was not played. Rerun the episode.",
        "the probe p4 follows the message m3, which was not played. Rerun the episode.",
    ]
    # Who is never told anything needs nothing to have been played.
    replies = await answer_all(MemBench(), DOMAIN, "a", elsewhere, {}, Nothing, chat)
    assert [reply.reason for reply in replies] == [None, None]


async def test_probe_without_previous_state_fails_with_a_reason():
    [reply] = await answer_all(MemBench(), DOMAIN, "a", [probe(0, 0)], {}, PreviousState, ContextChat())
    assert "the probe p0 has no previous state" in reply.reason
