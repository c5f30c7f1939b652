"""Probes that ask no answer: what writes added, what a memory contains, and what it recalls for a given text."""

import json
from dataclasses import replace

import pytest
from factories import row

from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.registry import find_domain
from memflow.memories.baselines import Full, Nothing, Oracle
from memflow.memories.entries import Item
from memflow.memories.memory import FAILURE, Memory, Message, Recall
from memflow.records import Probe, is_failed_reply
from memflow.run.answer import EpisodeHistory, answer_all
from memflow.run.play import Episode, Event, play
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows

DOMAIN = find_domain("membench_memdaily")
SESSIONS = ("Ana lives in Rome", "Ana moved to Oslo"), ("Hi", "Bo is a baker")
EVENTS = tuple(
    Event(at, at, "given", tuple(Message(f"m{at}{text[:2]}", "user", text) for text in texts), together=1)
    for at, texts in enumerate(SESSIONS)
)


class Facts(Memory):
    """A memory that keeps one fact per person, counts its writes in an entry, and touches entries at each write."""

    async def write(self, messages):
        for message in messages:
            if message.text == "Hi":
                self.store.add(FAILURE, "nothing in it", sources=())
                for item in self.store.live("fact"):
                    self.store.revise(item, meta={"touched": True})
                continue
            old = [item for item in self.store.live("fact") if item.text[:2] == message.text[:2]]
            for item in old:
                self.store.retire(item.entry_id)
            self.store.add("fact", message.text, sources=[message.message_id])

    async def read(self, query, frozen=True):
        return Recall(entries=tuple(item for item in self.store.live("fact") if query in item.text))


def probe(kind: str, checkpoint: int, question: str = "which facts?") -> Probe:
    name = f"{kind}{checkpoint}"
    return row(Probe, probe_id=name, episode_id="e", checkpoint=checkpoint, kind=kind, question=question)


async def played(memory):
    episode = await play(Episode("e", EVENTS), memory, None)
    rows = entry_rows("d", "a", [episode]), transcript_rows("d", "a", [episode])
    return episode, episode_histories(*rows, [probe("stored", 1)])


async def asked(probes, histories, remember):
    replies = await answer_all(MemBench(), DOMAIN, "a", probes, histories, remember, None)
    return {reply.probe_id: reply for reply in replies}


async def test_written_and_stored_texts_are_those_of_the_checkpoint():
    """A fact that was replaced within its session, a failure, and a revision with the same text are not written."""
    _, histories = await played(Facts())
    probes = [probe(kind, at) for kind in ("written", "stored") for at in (0, 1)]
    replies = await asked(probes, histories, Facts)
    assert {name: json.loads(reply.text) for name, reply in replies.items()} == {
        "written0": ["Ana moved to Oslo"],
        "written1": ["Bo is a baker"],
        "stored0": ["Ana moved to Oslo"],
        "stored1": ["Ana moved to Oslo", "Bo is a baker"],
    }
    assert replies["written1"].recalled_sources == ["m1Bo"]
    assert {reply.parsed for reply in replies.values()} == {"messages"}


async def test_session_with_failed_write_has_reason_and_no_texts():
    class Failing(Facts):
        async def write(self, messages):
            await super().write(messages)
            for message in messages:
                if message.text == "Hi":
                    self.store.add(FAILURE, "HTTP 503", sources=[message.message_id])

    _, histories = await played(Failing())
    replies = await asked([probe("written", 0), probe("written", 1), probe("stored", 1)], histories, Failing)
    assert replies["written1"].reason == "writes of the session failed (1), the first with: HTTP 503"
    assert replies["written1"].text is None
    assert [replies[name].reason for name in ("written0", "stored1")] == [None, None]


class FactsWithSummary(Facts):
    """A memory of facts that keeps a summary, which no probe recalls, when it forgets."""

    derived_kinds = frozenset({"summary"})
    bookkeeping_kinds = Memory.bookkeeping_kinds | derived_kinds

    async def write(self, messages):
        await super().write(messages)
        self.store.add("summary", f"{len(messages)} more", sources=[])


async def test_memory_contains_its_summary_but_writes_none():
    _, histories = await played(FactsWithSummary())
    replies = await asked([probe("written", 1), probe("stored", 1)], histories, FactsWithSummary)
    texts = {name: json.loads(reply.text) for name, reply in replies.items()}
    assert texts["written1"] == ["Bo is a baker"]
    assert [text for text in texts["stored1"] if "more" in text] == ["1 more"] * 4


async def test_search_reads_with_the_text_of_the_probe():
    _, histories = await played(Facts())
    replies = await asked([probe("search", 0, "Oslo"), probe("search", 1, "Paris")], histories, Facts)
    assert json.loads(replies["search0"].text) == ["Ana moved to Oslo"]
    assert json.loads(replies["search1"].text) == []
    assert replies["search1"].reason is None


async def test_search_of_the_oracle_is_the_gold():
    gold = replace(probe("search", 0), revealed="Ana lives in Oslo now")
    replies = await asked([gold], {}, Oracle)
    assert json.loads(replies["search0"].text) == ["Ana lives in Oslo now"]


@pytest.mark.parametrize(
    ("memory", "kind", "reason"),
    [(Nothing, "written", "stores no entries"), (Full, "search", "does not search")],
)
async def test_what_a_memory_does_not_show_is_not_measurable_and_no_failure(memory, kind, reason):
    [reply] = (await asked([probe(kind, 0)], {"e": EpisodeHistory([], {0: 0})}, memory)).values()
    assert reply.reason.startswith("not measurable: ")
    assert reason in reply.reason
    assert not is_failed_reply(reply)


async def test_texts_that_a_server_declares_for_its_writes_count():
    writes = [
        Item(f"write-{at}", "write", "", (), since=at + 1, order=at, meta={"write": at, "extracted": texts})
        for at, texts in enumerate((["Ana: Rome"], [], ["Bo: baker"]))
    ]
    history = EpisodeHistory(writes, {0: 1, 1: 3}, starts={0: 0, 1: 1})
    replies = await asked([probe("written", 0), probe("written", 1)], {"e": history}, Facts)
    assert [json.loads(reply.text) for reply in replies.values()] == [["Ana: Rome"], ["Bo: baker"]]
    assert replies["written0"].parsed == "declared"
