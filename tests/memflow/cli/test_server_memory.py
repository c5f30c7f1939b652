"""`show memory` of a memory server: time travel on the entries that mirror its items."""

from typing import Any

import pytest
from memory_helpers import said
from server_evaluation import server_memory

from memflow.memories.memory import Tools
from memflow.memories.server.fake import EVERYTHING, FakeServer
from memflow.run.play import Episode, EpisodeQueries, Event, play_all
from memflow.run.transcripts import entry_rows, transcript_rows

DOMAIN, NAME = "amemgym_demo~1", "mine"
TEXTS = (["My car is red.", "My cat is old."], ["My car is blue.", "My dog is lost."], ["Lost."])
EVENTS = [(checkpoint, text) for checkpoint, texts in enumerate(TEXTS) for text in texts]
EPISODE = Episode(
    "ann",
    tuple(
        Event(at, checkpoint, "given", tuple(said(text, first=at)))
        for at, (checkpoint, text) in enumerate(EVENTS)
    ),
)
QUERIES = {"ann": EpisodeQueries({checkpoint: ("car",) for checkpoint in range(3)})}


@pytest.fixture
def show(empty) -> Any:
    """Return a function that plays the episode with a server and shows its memory."""

    async def play_and_show(server: FakeServer, *arguments: str) -> Any:
        remember = server_memory(mode="ask_at_once").factory(Tools(server=server))
        played = await play_all([EPISODE], remember, None, queries=QUERIES)
        empty.write("memory.transcripts", f"{DOMAIN}/{NAME}", transcript_rows(DOMAIN, NAME, played))
        empty.write("memory.indexes", f"{DOMAIN}/{NAME}", entry_rows(DOMAIN, NAME, played))
        return empty.json("show", "memory", DOMAIN, NAME, *arguments)

    return play_and_show


def texts(rows: list[dict[str, Any]]) -> list[str]:
    return [row["text"].removeprefix("user: ") for row in rows if row["kind"] == "memory"]


@pytest.mark.parametrize(("checkpoint", "there"), [(0, TEXTS[0]), (1, TEXTS[0] + TEXTS[1])])
async def test_checkpoint_shows_the_items_of_then(show, checkpoint: int, there: list[str]) -> None:
    found = await show(FakeServer(), "--checkpoint", str(checkpoint))
    assert texts(found["entries"]) == there
    assert next(row["sources"] for row in found["entries"] if row["kind"] == "memory") == ["m0"]


async def test_without_export_only_returned_items_are_shown(show) -> None:
    server = FakeServer(EVERYTHING.model_copy(update={"export": "none"}))
    found = await show(server, "--checkpoint", "1")
    assert texts(found["entries"]) == ["My car is red.", "My car is blue."]
