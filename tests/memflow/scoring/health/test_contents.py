"""Reads of a memory server without an export, whose entries begin with a read, and messages that users took back."""

from unittest.mock import Mock

import pytest

from memflow.memories.forgetting import ForgetRequest
from memflow.memories.memory import Message, Tools
from memflow.memories.registry import find, memory_factory
from memflow.memories.server.protocol import Capabilities
from memflow.run.answer import EpisodeHistory
from memflow.run.play import Episode, Event, play_all
from memflow.run.transcripts import transcript_rows
from memflow.scoring.health.contents import future_entries
from memflow.scoring.health.episodes import DomainMessages, observe
from memflow.scoring.health.observations import EpisodeObservation
from memflow.scoring.health.states import FAULTY


@pytest.mark.parametrize(("export", "is_faulty"), [("none", False), ("live", True)])
def test_item_that_a_later_read_made_an_entry_is_of_the_future_only_with_an_export(
    export: str, is_faulty: bool
) -> None:
    read = Mock(probe_id="p", sequence=3, recalled=("unstored:memory:a",))
    entry = Mock(item_id="a", since=7, until=None, sources=(), future=False)
    episode = EpisodeObservation("e", [], {"memory-1": entry}, [read], server=Capabilities(export=export))
    assert (future_entries([episode], Mock()).state == FAULTY) is is_faulty


async def test_message_that_the_user_took_back_is_not_counted_as_forgotten() -> None:
    forgets = {"m2": ForgetRequest("message", ("m0",))}
    texts = ("I am ill.", "I like tea.", "Forget that I am ill.", "Good night.")
    events = tuple(
        Event(at, at, "given", (Message(f"m{at}", "user", text),), forgets=forgets)
        for at, text in enumerate(texts)
    )
    played = await play_all([Episode("e", events)], memory_factory("bm25_message", Tools()), None)
    lines = transcript_rows("d", "bm25_message", played)
    history = EpisodeHistory(list(played[0].store), {})
    system, messages = find("bm25_message").system, DomainMessages.from_transcript(lines)
    rows = {"probes": [], "replies": {}, "attributions": {}}
    observation = observe(
        system, "e", history=history, lines=lines, query_of=str, domain_messages=messages, **rows
    )
    assert not any(item.alive(9) for item in history.items if "m0" in item.sources)
    assert [message.live_at_end for message in observation.messages] == [True] * 4
