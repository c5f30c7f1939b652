"""Early answers: the replies of probes asked during play, and probes that are left to the step that answers them."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

import pytest
from factories import reply, row

from memflow.errors import EndpointDown
from memflow.memories.entries import EntryStore
from memflow.memories.memory import Message
from memflow.records import Probe, Reply
from memflow.run import early_answers
from memflow.run.answer import EpisodeHistory
from memflow.run.early_answers import EarlyAnswers
from memflow.run.play import LAST, Event, PlayedEpisode, PlayedMessage


def probe(number: int, checkpoint: int, after: str | None = None) -> Probe:
    return row(
        Probe,
        probe_id=f"p{number}",
        episode_id="e",
        checkpoint=checkpoint,
        options=["a", "b"],
        revealed="a",
        after=after,
    )


def played(*message_ids: str) -> PlayedEpisode:
    """Return an episode with these messages so far, each with an entry."""
    store, lines = EntryStore(), []
    for at, name in enumerate(message_ids):
        message = Message(name, "user", name, sent_at=datetime(2024, 1, 1).isoformat())
        event = Event(at, 0, "given", (message,))
        store.advance(1)
        store.add("message", name, sources=[name])
        lines.append(PlayedMessage(message, event, 0, at, "given"))
    return PlayedEpisode("e", lines, store)


class Asking:
    """A recorder of asked probes with the entries of their memories. It may be busy."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.go = asyncio.Event()
        self.go.set()

    async def idle(self) -> None:
        await self.go.wait()

    async def ask(self, probes: Sequence[Probe], history: EpisodeHistory) -> list[Reply]:
        for each in probes:
            store = EntryStore.restored(history.items, history.sequence(each))
            self.asked.append((each.probe_id, [item.text for item in store.live()]))
        return [reply(probe_id=each.probe_id) for each in probes]


async def other_tasks() -> None:
    """Let the other tasks of the event loop run."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_probes_of_an_ended_checkpoint_are_asked_with_the_memory_at_that_time() -> None:
    early, asking = EarlyAnswers([probe(0, 0), probe(1, 1), probe(2, 2)]), Asking()
    ended = early.on_checkpoint(asking.ask, asyncio.create_task, asking.idle)
    ended(played("m0", "m1"), 0, 2)
    await other_tasks()
    assert set(await early.replies()) == {"p0", "p1"}
    assert asking.asked == [("p0", ["m0", "m1"]), ("p1", ["m0", "m1"])]


async def test_probes_are_left_to_the_step_where_many_checkpoints_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(early_answers, "WAITING", 2)
    early, asking = EarlyAnswers([probe(number, number) for number in range(5)]), Asking()
    ended = early.on_checkpoint(asking.ask, asyncio.create_task, asking.idle)
    asking.go.clear()
    for checkpoint in range(4):
        ended(played("m0"), checkpoint, checkpoint + 1)
    asking.go.set()
    await other_tasks()
    ended(played("m0"), 4, LAST)  # no checkpoint waits any more
    await other_tasks()
    assert set(await early.replies()) == {"p0", "p1", "p4"}


async def test_probe_after_a_message_sees_the_memory_as_of_that_message() -> None:
    early, asking = EarlyAnswers([probe(0, 0, after="m0"), probe(1, 0, after="unplayed")]), Asking()
    early.on_checkpoint(asking.ask, asyncio.create_task, asking.idle)(played("m0", "m1"), 0, LAST)
    await other_tasks()
    assert set(await early.replies()) == {"p0"}
    assert asking.asked == [("p0", ["m0"])]


async def test_probes_that_wait_for_an_idle_event_loop_are_answered_by_the_answering_step() -> None:
    early, asking = EarlyAnswers([probe(0, 0), probe(1, 1)]), Asking()
    ended = early.on_checkpoint(asking.ask, asyncio.create_task, asking.idle)
    ended(played("m0"), 0, 1)
    await other_tasks()
    asking.go.clear()
    ended(played("m0", "m1"), 1, LAST)
    assert set(await early.replies()) == {"p0"}
    assert [name for name, _ in asking.asked] == ["p0"]


async def test_failed_early_request_leaves_its_probe_to_the_answering_step() -> None:
    async def fail(probes: Sequence[Probe], history: EpisodeHistory) -> list[Reply]:
        raise EndpointDown("no server")

    early = EarlyAnswers([probe(0, 0)])
    early.on_checkpoint(fail, asyncio.create_task, Asking().idle)(played("m0"), 0, LAST)
    await other_tasks()
    assert await early.replies() == {}
