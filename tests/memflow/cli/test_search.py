"""`memflow search`: the stored entries for a query, as of a checkpoint, and what it refuses."""

import asyncio
import json
import re

import factories
import pytest

from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.server.mirror import SERVER
from memflow.records import Entry, TranscriptMessage

DOMAIN = "amemgym_demo"
TEXTS = {
    "u1": ["Mel drinks green tea", "Mel drinks black coffee", "Mel works in Paris"],
    "u2": ["Ann likes tea"],
}
CHECKPOINTS = {"u1": [0, 1, 1], "u2": [0]}
"""The checkpoint of each message. The second message retires the entry of the first."""


def entries(assistant: str, *, vectors: bool) -> list[Entry]:
    found = []
    for episode, texts in TEXTS.items():
        embedded = asyncio.run(HashingEmbedder().embed(texts)).tolist()
        found += [
            factories.entry(
                domain=DOMAIN,
                assistant=assistant,
                episode_id=episode,
                entry_id=f"message-{number}",
                kind="message",
                text=text,
                sources=[f"{episode}/{number}"],
                since=number + 1,
                until=2 if (episode, number) == ("u1", 0) else None,
                vector=embedded[number] if vectors else None,
            )
            for number, text in enumerate(texts)
        ]
    return found


def messages(assistant: str) -> list[TranscriptMessage]:
    return [
        factories.row(
            TranscriptMessage,
            domain=DOMAIN,
            assistant=assistant,
            episode_id=episode,
            message_id=f"{episode}/{number}",
            checkpoint=checkpoint,
            sequence=number,
        )
        for episode, checkpoints in CHECKPOINTS.items()
        for number, checkpoint in enumerate(checkpoints)
    ]


@pytest.fixture
def home(empty):
    for assistant, vectors in (("embed_message", True), ("bm25_message", False)):
        empty.write("memory.indexes", f"{DOMAIN}/{assistant}", entries(assistant, vectors=vectors))
        empty.write("memory.transcripts", f"{DOMAIN}/{assistant}", messages(assistant))
    return empty


def texts(answer):
    return [row["text"] for row in answer["rows"]]


@pytest.mark.parametrize("mode", ["vector", "text", "hybrid"])
def test_search_returns_the_entries_of_a_checkpoint_best_first(home, mode):
    of_u1 = ("search", DOMAIN, "embed_message", "drinks tea", "--episode", "u1", "--mode", mode)
    then = home.json(*of_u1, "--checkpoint", "0")
    assert (then["sequence"], then["entries"], texts(then)) == (1, 1, ["Mel drinks green tea"])
    now = home.json(*of_u1, "--k", "1")
    assert (now["checkpoint"], now["entries"], now["mode"]) == (1, 2, mode)
    assert texts(now) == ["Mel drinks black coffee"]


def test_search_without_options_searches_the_end_of_all_episodes_by_the_modes_that_the_entries_allow(home):
    found = home.json("search", DOMAIN, "embed_message", "likes tea")
    assert (found["mode"], found["entries"], found["episode"]) == ("hybrid", 3, None)
    assert texts(found)[0] == "Ann likes tea"
    assert home.json("search", DOMAIN, "bm25_message", "tea")["mode"] == "text"
    shown = home("search", DOMAIN, "embed_message", "likes tea").stdout
    assert "the best 3 of 3 entries by hybrid search" in shown and "u2" in shown
    sheet = home("search", DOMAIN, "bm25_message", "tea", "--format", "csv").stdout.splitlines()
    assert sheet[0].startswith("rank,") and len(sheet) == 2


def test_outdated_and_deleted_indexes_are_built_again_before_a_search(home):
    assert texts(home.json("search", DOMAIN, "bm25_message", "tea")) == ["Ann likes tea"]
    home.write("memory.indexes", f"{DOMAIN}/bm25_message", entries("bm25_message", vectors=False)[1:3])
    assert texts(home.json("search", DOMAIN, "bm25_message", "tea Paris")) == ["Mel works in Paris"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bm25_message", "tea", "--mode", "vector"), "have no vectors, .* Use --mode text"),
        (("bm25_message", "tea", "--mode", "hybrid"), "have no vectors, .* Use --mode text"),
        (("bm25_message", "tea", "--mode", "fuzzy"), "no mode 'fuzzy'. Use vector, text, hybrid"),
        (("embed_message", "tea", "--episode", "u3"), "no episode 'u3'. Did you mean u1|Use one of: u1, u2"),
        (
            ("embed_message", "tea", "--episode", "u1", "--checkpoint", "7"),
            "no checkpoint 7. Use one from 0 to 1",
        ),
        (("embed_message", "tea", "--checkpoint", "1"), "2 episodes, .* --episode: u1, u2"),
        (("recent", "tea"), "no assistant with stored entries 'recent'.*`memflow run --domain amemgym_demo"),
    ],
)
def test_search_refuses_what_the_entries_cannot_answer(home, arguments, message):
    assert re.search(message, home.error("search", DOMAIN, *arguments).replace("\n", " "))


def test_search_refuses_a_memory_server_that_does_not_export_its_items(home):
    declared = '[memories.hosted]\ncommand = ["python", "-m", "nothing"]\n'
    settings = home.folder / "memflow.toml"
    settings.write_text(declared, encoding="utf-8")
    can = {"sources": "message", "export": "none"}
    row = factories.entry(kind=SERVER, text="", meta=json.dumps({"can": can}), sources=[], since=0)
    home.write("memory.indexes", f"{DOMAIN}/hosted", [row])
    home.write("memory.transcripts", f"{DOMAIN}/hosted", messages("hosted"))
    assert "Add the operation `export`" in home.error(
        "--settings", str(settings), "search", DOMAIN, "hosted", "tea"
    )


def test_search_by_vector_names_an_embedder_that_is_missing_or_another(home):
    facts = {"embedder": "bge-m3"}
    home.write("memory.indexes", f"{DOMAIN}/embed_message", entries("embed_message", vectors=True), **facts)
    said = home.error("search", DOMAIN, "embed_message", "tea", "--mode", "hybrid")
    assert "embedded by bge-m3" in said and "--embedder" in said
    assert home.json("search", DOMAIN, "embed_message", "tea", "--mode", "text")["rows"]
    address = ("--embedder", "chat-only", "--embedder-url", "http://127.0.0.1:9")
    home.write("memory.indexes", f"{DOMAIN}/embed_message", entries("embed_message", vectors=True))
    said = home.error("search", DOMAIN, "embed_message", "tea", *address)
    assert "returned no vector" in said and "use --mode text" in said
