"""ServerMemory: what it sends, what it mirrors, and what becomes of failures."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from faulty_server import EVERYTHING, Faults, FaultyServer

from memflow.errors import BadInput, BadSettings, RecallFailed, ServerDown, ServerFailed
from memflow.memories.entries import EntryStore, Item
from memflow.memories.external import DatedQuery
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.memory import FAILURE, Memory, Message, Tools
from memflow.memories.server.memory import ServerMemory
from memflow.memories.server.mirror import READ, SERVER, WRITE
from memflow.memories.server.protocol import ReadAnswer, SentMessage, WireItem, WriteAnswer, WriteFailure
from memflow.run.play import Episode, EpisodeQueries, Event, PlayedEpisode, play, play_all
from memflow.scoring.leaks import RetractedFact, find_leaks

CITIES = ("Ana lives in Rome", "Ben lives in Oslo", "Ana moved to Paris", "Ben likes tea")
QUERY = "Ana lives where, in Rome or Paris?"


def message(number: int, text: str, **more: Any) -> Message:
    return Message(f"m{number}", "user", text, **more)


def episode(
    texts: Sequence[str] = CITIES, *, name: str = "e", base: str | None = None, first: int = 0, **more: Any
) -> Episode:
    """Return an episode in which each message is a checkpoint."""
    events = tuple(
        Event(at, at, "given", (message(at, text, **more),)) for at, text in enumerate(texts, start=first)
    )
    return Episode(name, events, base)


def server(
    faults: Faults | None = None, *, capacity: int = 0, profile: bool = False, **can: Any
) -> FaultyServer:
    return FaultyServer(
        EVERYTHING.model_copy(update=can), faults=faults or Faults(), capacity=capacity, profile=profile
    )


def queries(*texts: str, checkpoints: int = len(CITIES)) -> EpisodeQueries:
    return EpisodeQueries({at: texts for at in range(checkpoints)})


def remember(connection: Any, **parameters: Any) -> Any:
    return lambda store: ServerMemory(store, Tools(server=connection), **parameters)


def played(connection: Any, asked: EpisodeQueries | None = None, **parameters: Any) -> EntryStore:
    """Return the store after an episode."""
    memory = remember(connection, **parameters)(EntryStore())
    asyncio.run(play(episode(), memory, None, queries=asked or queries(QUERY)))
    store: EntryStore = memory.store
    return store


def restored(store: EntryStore, sequence: int, connection: Any, **parameters: Any) -> Memory:
    memory: Memory = remember(connection, **parameters)(EntryStore.restored(list(store), sequence))
    return memory


def recalled(
    store: EntryStore, sequence: int, connection: Any, query: str = QUERY, **parameters: Any
) -> list[str]:
    found = asyncio.run(restored(store, sequence, connection, **parameters).read(query))
    return [item.text.removeprefix("user: ") for item in found.entries]


def of_kind(store: EntryStore, kind: str) -> list[Item]:
    return [item for item in store if item.kind == kind]


def texts(store: EntryStore, sequence: int) -> list[str]:
    """Return the texts of the mirrored entries at a sequence number."""
    return [item.text for item in EntryStore.restored(list(store), sequence).live("memory")]


@pytest.mark.parametrize("mode", ["as_of", "restore", "ask_at_once"])
def test_each_checkpoint_is_read_as_it_was_then(mode: str) -> None:
    connection = server()
    store = played(connection, mode=mode)
    found = [recalled(store, sequence, connection, mode=mode) for sequence in range(1, 5)]
    assert found == [
        ["Ana lives in Rome"],
        ["Ana lives in Rome", "Ben lives in Oslo"],
        ["Ana lives in Rome", "Ana moved to Paris", "Ben lives in Oslo"],
        ["Ana lives in Rome", "Ana moved to Paris", "Ben lives in Oslo"],
    ]


def test_lost_state_of_a_server_that_is_not_deterministic_is_not_guessed() -> None:
    mode = "as_of"
    store = played(server(deterministic=False), mode=mode)
    with pytest.raises(RecallFailed, match=r"is gone with the server process.*memflow run --force"):
        recalled(store, 2, server(deterministic=False), mode=mode)


class DatedServer(FaultyServer):
    """A fake server that records the times of its reads."""

    times: ClassVar[list[str | None]] = []

    async def read(self, space: str, query: str, k: int, **more: Any) -> Any:
        self.times.append(more["asked_at"])
        return await super().read(space, query, k, **more)


@pytest.mark.parametrize("mode", ["as_of", "restore", "ask_at_once"])
def test_server_receives_the_time_of_each_question(mode: str) -> None:
    connection, dates = DatedServer(EVERYTHING), ("2024-05-01", "2025-05-01", None)
    connection.times.clear()
    dated = [DatedQuery(QUERY, date) for date in dates]
    store = played(connection, EpisodeQueries({0: dated}), mode=mode)
    for query in dated:
        assert recalled(store, 1, connection, query, mode=mode) == ["Ana lives in Rome"]
    assert sorted(connection.times, key=str) == sorted(dates, key=str)
    if mode == "ask_at_once":  # what was read at one time does not answer for another
        with pytest.raises(RecallFailed, match="added or changed since"):
            recalled(store, 1, None, DatedQuery(QUERY, "2026-05-01"), mode=mode)


def test_read_of_an_earlier_checkpoint_does_not_answer_for_a_later_one() -> None:
    store = played(server(), EpisodeQueries({0: (QUERY,)}), mode="ask_at_once")
    with pytest.raises(RecallFailed, match="added or changed since"):
        recalled(store, 2, None, mode="ask_at_once")


def test_larger_k_than_the_stored_one_fails() -> None:
    store = played(server(), mode="ask_at_once", k=2)
    with pytest.raises(RecallFailed, match="was read with k = 2, not with 3"):
        recalled(store, 4, None, mode="ask_at_once", k=3)


def test_checkpoint_is_read_before_the_next_write_and_each_query_once() -> None:
    connection = server(export="none")
    played(connection, queries(QUERY, "tea", QUERY), mode="ask_at_once")
    operations = [operation for operation, _ in connection.requests]
    assert operations == ["hello", "reset", *["write", "read", "read"] * len(CITIES), "close"]


def test_queries_before_the_first_message_read_an_empty_space() -> None:
    connection = server()
    memory = remember(connection, mode="ask_at_once")(EntryStore())
    opening = Episode("e", (Event(0, 1, "given", (message(0, CITIES[0]),)),))
    asyncio.run(play(opening, memory, None, queries=EpisodeQueries({0: (QUERY,), 1: (QUERY,)})))
    assert recalled(memory.store, 0, None, mode="ask_at_once") == []
    assert recalled(memory.store, 1, None, mode="ask_at_once") == [CITIES[0]]


def test_probe_within_a_write_sees_the_memory_before_it() -> None:
    connection = server()
    memory = remember(connection, mode="ask_at_once")(EntryStore())
    together = tuple(message(at, text) for at, text in enumerate(CITIES))
    asked = EpisodeQueries({}, {"m1": (QUERY,), "m3": (QUERY,)})
    asyncio.run(play(Episode("e", (Event(0, 0, "given", together),)), memory, None, queries=asked))
    assert recalled(memory.store, 2, None, mode="ask_at_once") == []
    assert len(recalled(memory.store, 4, None, mode="ask_at_once")) == 3


def test_memory_that_was_never_played_reads_an_empty_space() -> None:
    assert recalled(EntryStore(), 0, server()) == []


def test_entries_follow_the_exports() -> None:
    store = played(server(capacity=2))
    assert [texts(store, sequence) for sequence in (2, 3)] == [
        ["user: Ana lives in Rome", "user: Ben lives in Oslo"],
        ["user: Ben lives in Oslo", "user: Ana moved to Paris"],
    ]


def test_revised_item_is_a_version_of_its_entry() -> None:
    store = played(server(profile=True))
    profiles = of_kind(store, "profile")
    assert [item.text.removeprefix("The latest words: user: ") for item in profiles] == list(CITIES)
    assert [item.previous for item in profiles] == [None, *(item.entry_id for item in profiles[:-1])]
    assert [(item.since, item.until) for item in profiles] == [(1, 2), (2, 3), (3, 4), (4, None)]


def test_equal_texts_with_different_ids_are_different_entries() -> None:
    connection = server(sources="none")
    memory = remember(connection, mode="ask_at_once")(EntryStore())
    asyncio.run(play(episode(["yes", "yes"]), memory, None, queries=queries("yes", checkpoints=2)))
    assert len(of_kind(memory.store, "memory")) == 2
    assert recalled(memory.store, 2, None, "yes", mode="ask_at_once") == ["yes", "yes"]


def test_without_export_entries_are_the_items_that_reads_returned() -> None:
    store = played(server(export="none"), EpisodeQueries({3: ("tea",)}), mode="ask_at_once")
    assert [(item.text, item.sources, item.since) for item in of_kind(store, "memory")] == [
        ("user: Ben likes tea", ("m3",), 4)
    ]


def test_stored_read_records_query_items_scores_and_k() -> None:
    store = played(server(), EpisodeQueries({3: ("tea",)}), mode="ask_at_once", k=7)
    [read] = of_kind(store, READ)
    [entry] = [item for item in store.live("memory") if "tea" in item.text]
    assert {**read.meta, "query": ""} == {
        "query": "",
        "k": 7,
        "entries": [entry.entry_id],
        "ids": ["4.3"],
        "scores": [1.0],
    }
    assert "tea" not in f"{read.text}{read.meta['query']}"


@pytest.mark.parametrize(("grain", "sources"), [("message", ("m0",)), ("write", ("m0", "m1")), ("none", ())])
def test_sources_have_the_declared_grain(grain: str, sources: tuple[str, ...]) -> None:
    memory = remember(server(sources=grain))(EntryStore())
    both = (message(0, CITIES[0]), message(1, CITIES[1]))
    asyncio.run(play(Episode("e", (Event(0, 0, "given", both),)), memory, None))
    assert of_kind(memory.store, "memory")[0].sources == sources


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        (Faults(forget_sources=True), "declares `sources: 'message'`, but the item '1.0' has none"),
        (Faults(unknown_sources=True), "'never sent', which is no message that was sent to its space"),
    ],
)
def test_missing_and_unknown_sources_are_failures(faults: Faults, reason: str) -> None:
    store = played(server(faults), mode="ask_at_once")
    assert reason in of_kind(store, FAILURE)[0].text
    assert len({item.text for item in of_kind(store, FAILURE)}) == len(of_kind(store, FAILURE))
    with pytest.raises(RecallFailed) as wrong:
        recalled(store, 1, None, mode="ask_at_once")
    assert reason in str(wrong.value)


def test_items_of_another_space_are_rejected() -> None:
    connection = server(Faults(leak=True))
    others = (Message("o0", "user", "Hello"), Message("o1", "user", "Cleo lives in Rome"))
    other = Event(0, 0, "given", others)
    memory = remember(connection, mode="as_of")
    found = asyncio.run(play_all([Episode("o", (other,)), episode()], memory, None))
    with pytest.raises(RecallFailed, match="'o1', which is no message that was sent to its space"):
        recalled(found[1].store, 1, connection, mode="as_of")


def test_failed_write_is_a_failure_with_its_messages_and_the_episode_goes_on() -> None:
    connection = server(Faults(fail_write=2))
    store = played(connection, mode="as_of")
    [failure] = of_kind(store, FAILURE)
    assert failure.sources == ("m1",)
    assert "failed at write 2" in failure.text
    assert [write.text for write in of_kind(store, WRITE)] == [
        "write 1: 1 message",
        "write 2: 1 message, failed",
        "write 3: 1 message",
        "write 4: 1 message",
    ]
    assert recalled(store, 4, server(), mode="as_of") == ["Ana lives in Rome", "Ana moved to Paris"]


def test_failures_that_the_server_reports_are_entries() -> None:
    class Losing(FaultyServer):
        async def write(self, space: str, write: int, messages: Sequence[SentMessage]) -> WriteAnswer:
            await super().write(space, write, messages)
            return WriteAnswer(failures=(WriteFailure(why="too long", sources=(messages[0].id, "m99")),))

    store = played(Losing(), mode="ask_at_once")
    assert [(item.text, item.sources) for item in of_kind(store, FAILURE)][:2] == [
        ("too long (of messages that were never sent: m99)", ("m0",)),
        ("too long (of messages that were never sent: m99)", ("m1",)),
    ]


def test_failed_read_is_a_failed_recall_of_its_query_alone() -> None:
    store = played(server(Faults(fail_read=2)), queries(QUERY, "tea"), mode="ask_at_once")
    with pytest.raises(RecallFailed, match="failed at read 2"):
        recalled(store, 1, None, "tea", mode="ask_at_once")
    assert recalled(store, 1, None, mode="ask_at_once") == ["Ana lives in Rome"]
    assert recalled(store, 4, None, "tea", mode="ask_at_once") == ["Ben likes tea"]


def test_failed_export_is_a_failure_and_the_next_export_completes_the_mirror() -> None:
    store = played(server(Faults(fail_export=2)))
    assert ["failed at export 2" in item.text for item in of_kind(store, FAILURE)] == [True]
    assert [len(texts(store, sequence)) for sequence in range(1, 5)] == [1, 1, 3, 4]


def test_server_that_is_gone_ends_the_play() -> None:
    with pytest.raises(ServerDown, match="is gone"):
        played(server(Faults(down_after=6)))


def test_space_that_cannot_be_opened_fails_its_writes_and_reads_alone() -> None:
    class Full(FaultyServer):
        async def reset(self, space: str) -> None:
            await super().reset(space)
            if space.endswith("/e"):
                raise ServerFailed("no room")

    connection = Full()
    memory = remember(connection, mode="ask_at_once")
    other = Episode("o", (Event(0, 0, "given", (Message("o0", "user", CITIES[0]),)),))
    asked = {"e": queries(QUERY), "o": queries(QUERY)}
    failed, good = asyncio.run(play_all([episode(), other], memory, None, queries=asked))
    assert len(of_kind(failed.store, FAILURE)) == len(CITIES)
    with pytest.raises(RecallFailed, match="space of the episode e could not be opened: no room"):
        recalled(failed.store, 1, None, mode="ask_at_once")
    assert recalled(good.store, 1, None, mode="ask_at_once") == [CITIES[0]]


@pytest.mark.parametrize("dates", [True, False])
def test_date_is_sent_beside_the_text_or_before_it(dates: bool) -> None:
    connection = server(dates=dates)
    memory = remember(connection, mode="ask_at_once")(EntryStore())
    dated = episode(["Ana lives in Rome"], sent_at="8 May 2023")
    asyncio.run(play(dated, memory, None, queries=queries(QUERY)))
    found = asyncio.run(restored(memory.store, 1, None, mode="ask_at_once").read(QUERY))
    [stored] = of_kind(memory.store, "memory")
    assert stored.text == ("user: Ana lives in Rome" if dates else "user: [8 May 2023] Ana lives in Rome")
    assert found.notes == ("[8 May 2023] user: Ana lives in Rome" if dates else stored.text)


@pytest.mark.parametrize(
    ("batch", "sizes"), [("any", [4]), ("message", [1, 1, 1, 1]), ("pair", [2, 2]), ("session", [3, 1])]
)
def test_arrivals_are_cut_into_writes(batch: str, sizes: list[int]) -> None:
    connection = server(batch=batch)
    dates = ["8 May 2023"] * 3 + ["9 May 2023"]
    arrived = tuple(message(at, text, sent_at=dates[at]) for at, text in enumerate(CITIES))
    memory = remember(connection)(EntryStore())
    asyncio.run(play(Episode("e", (Event(0, 0, "given", arrived),)), memory, None))
    assert [len(item.meta["messages"]) for item in of_kind(memory.store, WRITE)] == sizes
    assert [item.since for item in of_kind(memory.store, WRITE)] == [4] * len(sizes)


@pytest.mark.parametrize(
    ("changed", "operations"),
    [
        ({}, ["fork", "write"]),
        ({"fork": False}, ["reset", *["write"] * 5]),
        ({"spaces": 1}, ["reset", *["write"] * 5]),
    ],
)
@pytest.mark.parametrize("mode", ["restore", "ask_at_once"])
def test_episode_continues_its_base(mode: str, changed: dict[str, Any], operations: list[str]) -> None:
    connection = server(**changed)
    following = episode(["Ana moved to Lima"], name="f", base="e", first=4)
    memory, asked = remember(connection, mode=mode), {"f": EpisodeQueries({4: (QUERY,)})}
    base, found = asyncio.run(play_all([episode(), following], memory, None, queries=asked))
    assert set(recalled(found.store, 5, connection, mode=mode)) == {*CITIES[:3], "Ana moved to Lima"}
    assert len(of_kind(found.store, "memory")) == 5
    sent = [
        op
        for op, space in connection.requests
        if space.endswith("/f") and op not in ("export", "read", "close")
    ]
    assert sent == operations
    assert len(base.store.live(WRITE)) == 4


@pytest.mark.parametrize("mode", ["ask_at_once", "restore", "as_of"])
def test_server_with_one_space_gets_one_at_a_time(mode: str) -> None:
    connection = server(spaces=1)
    memory = remember(connection, mode=mode)
    names = [f"e{number}" for number in range(3)]

    async def run() -> list[list[str]]:
        asked = dict.fromkeys(names, queries(QUERY))
        stores = await play_all([episode(name=name) for name in names], memory, None, queries=asked)
        readers = [memory(EntryStore.restored(list(each.store), at)) for each in stores for at in (1, 3)]
        found = await asyncio.gather(*(reader.read(QUERY) for reader in readers))
        return [[item.sources[0] for item in each.entries] for each in found]

    assert asyncio.run(run()) == [["m0"], ["m0", "m2", "m1"]] * 3
    assert connection.most_spaces == 1


def test_reads_that_write_are_in_a_fixed_order_and_marked() -> None:
    connection = server(Faults(writes_on_read=True), pure_reads=False)
    store = played(connection, queries("Ben", QUERY))
    assert recalled(store, 3, None)[0] == "Ben lives in Oslo"
    assert all(read.meta["changes"] for read in of_kind(store, READ))
    assert of_kind(store, SERVER)[0].text == "fake 1, mode ask_at_once, reads change the memory"


def test_items_beyond_k_are_dropped_and_duplicates_are_rejected() -> None:
    class Eager(FaultyServer):
        copies = 1

        async def read(self, space: str, query: str, k: int, **more: Any) -> ReadAnswer:
            found = await super().read(space, query, 100, **more)
            return ReadAnswer(items=found.items * self.copies)

    store = played(Eager(), mode="ask_at_once", k=2)
    assert len(recalled(store, 4, None, mode="ask_at_once", k=2)) == 2
    twice = Eager()
    twice.copies = 2
    with pytest.raises(RecallFailed, match="occurs twice in one answer"):
        recalled(played(twice, mode="ask_at_once"), 4, None, mode="ask_at_once")


def test_notes_without_items_are_recalled_as_they_are() -> None:
    class Profile(FaultyServer):
        async def read(self, space: str, query: str, k: int, **more: Any) -> ReadAnswer:
            return ReadAnswer(notes="Ana: lives in Paris")

    store = played(Profile(EVERYTHING.model_copy(update={"sources": "none"})), mode="ask_at_once")
    found = asyncio.run(restored(store, 2, None, mode="ask_at_once").read(QUERY))
    assert (found.notes, found.entries) == ("Ana: lives in Paris", ())


def test_budget_drops_the_last_items() -> None:
    found = asyncio.run(restored(played(server()), 4, server(), budget=12).read(QUERY))
    assert [item.sources for item in found.entries] == [("m0",), ("m2",)]
    assert found.notes == "user: Ana lives in Rome\nuser: Ana moved to Paris"
    assert found.dropped_tokens > 0


@pytest.mark.parametrize("changed", [{}, {"sources": "none"}, {"sources": "none", "export": "none"}])
def test_notes_are_in_order_of_time_with_and_without_sources(changed: dict[str, str]) -> None:
    store = played(server(**changed), mode="ask_at_once")
    found = asyncio.run(restored(store, 4, None, mode="ask_at_once").read(QUERY))
    assert found.notes.splitlines() == [f"user: {CITIES[at]}" for at in (0, 1, 2)]
    assert [item.text for item in found.entries] == [f"user: {CITIES[at]}" for at in (0, 2, 1)]


def test_kind_of_an_item_that_is_reserved_or_no_name_becomes_memory() -> None:
    class Odd(FaultyServer):
        async def export(self, space: str) -> Any:
            found = await super().export(space)
            kinds = ("read", "a b", "fact", "server")
            items = [
                item.model_copy(update={"kind": kind}) for item, kind in zip(found.items, kinds, strict=False)
            ]
            return found.model_copy(update={"items": tuple(items)})

    connection = Odd()
    store = played(connection, mode="restore")
    assert [item.kind for item in store.live() if "id" in item.meta] == ["memory", "memory", "fact", "memory"]
    recalled(store, 4, connection, mode="restore")
    space = next(space for operation, space in connection.requests if operation == "restore")
    assert [each.item.kind for each in connection.spaces[space]] == ["read", "a b", "fact", "server"]


def test_first_entry_records_the_server_and_the_mode() -> None:
    [declared] = of_kind(played(server(export="none"), mode="as_of"), SERVER)
    assert declared.text == "fake 1, mode as_of"
    assert declared.meta["can"]["export"] == "none"


def test_memory_without_a_connection_or_a_started_episode_is_rejected() -> None:
    with pytest.raises(BadSettings, match="needs a connection to its memory server"):
        played(None)
    with pytest.raises(BadInput, match="before its episode started"):
        asyncio.run(remember(server())(EntryStore()).write([message(0, "Hello")]))


def test_space_that_cannot_be_filled_is_deleted() -> None:
    class Unwilling(FaultyServer):
        async def restore(self, space: str, items: Sequence[WireItem]) -> None:
            raise ServerFailed("restores nothing today")

    connection = Unwilling(EVERYTHING.model_copy(update={"as_of": "none"}))
    store = played(connection, mode="restore")
    with pytest.raises(RecallFailed, match="restores nothing today"):
        recalled(store, 2, connection, mode="restore")
    assert not connection.spaces


def test_canceled_play_gives_its_place_to_another() -> None:
    class Slow(FaultyServer):
        async def write(self, space: str, write: int, messages: Sequence[SentMessage]) -> WriteAnswer:
            if space.endswith("/slow"):
                await asyncio.Event().wait()
            return await super().write(space, write, messages)

    connection = Slow(EVERYTHING.model_copy(update={"spaces": 1}))
    memory = remember(connection, mode="ask_at_once")

    async def run() -> EntryStore:
        slow = asyncio.ensure_future(play(episode(name="slow"), memory(EntryStore()), None))
        other = asyncio.ensure_future(play(episode(), memory(EntryStore()), None))
        await asyncio.sleep(0.01)
        assert not other.done()
        slow.cancel()
        return (await other).store

    assert len(of_kind(asyncio.run(run()), "memory")) == 4


def test_long_ids_and_unusual_texts_reach_the_server_and_come_back() -> None:
    text = "Rome\x00 \u202e\n\"quotes\" 🏛 'single' \\ {}"
    connection = server()
    memory = remember(connection, mode="restore")(EntryStore())
    odd = Message("i" * 1_500, "user", text, speaker="Ana\n")
    asyncio.run(play(Episode("e/\n🏛" * 200, (Event(0, 0, "given", (odd,)),)), memory, None))
    found = asyncio.run(restored(memory.store, 1, connection, mode="restore").read("Rome"))
    assert [(item.text, item.sources) for item in found.entries] == [(f"Ana\n: {text}", ("i" * 1_500,))]
    assert max(len(space) for _, space in connection.requests) < 500


def test_gold_is_in_no_request() -> None:
    assert set(SentMessage.model_fields) == {"id", "role", "text", "speaker", "sent_at"}
    assert set(WireItem.model_fields).isdisjoint({"gold", "evidence", "answer"})


class LyingServer(FaultyServer):
    """A fake server that answers a request to forget and keeps everything."""

    async def forget(self, space: str, write: int, request: ForgetRequest) -> WriteAnswer:
        return WriteAnswer()


FORGOTTEN = ForgetRequest("message", ("m0",))


def forgetting_episode(request: ForgetRequest = FORGOTTEN) -> Episode:
    """Return an episode whose third message asks to forget."""
    events = list(episode().events)
    events[2] = replace(events[2], forgets={"m2": request})
    return Episode("e", tuple(events))


def play_forgetting(connection: Any, request: ForgetRequest = FORGOTTEN, **parameters: Any) -> PlayedEpisode:
    memory = remember(connection, **parameters)(EntryStore())
    return asyncio.run(play(forgetting_episode(request), memory, None, queries=queries(QUERY)))


@pytest.mark.parametrize("mode", ["as_of", "restore", "ask_at_once"])
def test_forgotten_item_is_recalled_at_earlier_checkpoints_only(mode: str) -> None:
    connection = server(forget=("message",))
    lived = play_forgetting(connection, mode=mode)
    found = [recalled(lived.store, sequence, connection, mode=mode) for sequence in (2, 3)]
    assert found == [["Ana lives in Rome", "Ben lives in Oslo"], ["Ana moved to Paris", "Ben lives in Oslo"]]
    assert texts(lived.store, 3) == ["user: Ben lives in Oslo", "user: Ana moved to Paris"]
    assert [(line.ended_entries, line.forget_failure) for line in lived.lines if line.forgets] == [(1, None)]


def test_period_is_sent_by_message_to_a_server_that_knows_no_dates() -> None:
    lived = play_forgetting(server(forget=("message",)), ForgetRequest("time"))
    assert texts(lived.store, 3) == []
    assert [line.ended_entries for line in lived.lines if line.forgets] == [3]


@pytest.mark.parametrize(
    ("can", "reason"),
    [
        ({}, "not forgotten by message: its answer to `hello` declares no `forget`"),
        ({"forget": ("text",)}, "declares `forget` by text only"),
    ],
)
def test_server_without_the_form_is_not_asked(can: dict[str, Any], reason: str) -> None:
    lived = play_forgetting(server(**can))
    [asking] = [line for line in lived.lines if line.forgets]
    assert reason in str(asking.forget_failure) and asking.ended_entries is None
    assert len(texts(lived.store, 3)) == 3


def test_server_that_lies_keeps_its_entries_and_without_an_export_none_is_assumed() -> None:
    lied = play_forgetting(LyingServer(EVERYTHING.model_copy(update={"forget": ("message",)})))
    assert [line.ended_entries for line in lied.lines if line.forgets] == [0]
    honest = play_forgetting(server(forget=("message",)))
    fact = RetractedFact("Rome", ("Ana lives in Rome",))
    leaks = [
        asyncio.run(find_leaks(EntryStore.restored(list(lived.store), 3).live(), [fact]))[0].form
        for lived in (lied, honest, play_forgetting(server()))
    ]
    assert leaks == ["exact", None, "exact"]
    unknown = play_forgetting(server(forget=("message",), export="none", as_of="none"), mode="ask_at_once")
    assert texts(unknown.store, 2) and texts(unknown.store, 3) == [
        "user: Ana moved to Paris",
        "user: Ben lives in Oslo",
    ]


def test_write_records_what_the_server_declares_that_it_extracted() -> None:
    connection = server()
    write = connection.write

    async def declaring(space: str, number: int, messages: Any) -> Any:
        answer = await write(space, number, messages)
        return answer.model_copy(update={"extracted": (f"fact {number}",)} if number < 3 else {})

    connection.write = declaring  # type: ignore[method-assign]
    declared = [item.meta.get("extracted") for item in of_kind(played(connection), "write")]
    assert declared[:3] == [["fact 1"], ["fact 2"], None]
