"""A-Mem: descriptions, links and evolution of notes."""

import pytest
from memory_helpers import build, give, requests, said

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.errors import RecallFailed
from memflow.memories.a_mem.answers import Decision, Described, Evolved, Keywords
from memflow.memories.a_mem.memory import NOTE, AMem
from memflow.memories.entries import Item
from memflow.memories.memory import FAILURE, Recall

PLAIN = Described(keywords=["word"], context="Said.", tags=["talk"])
NO_LINK = Decision(links=[], tags=[], evolved=[])


def linking(**links: str) -> Handler:
    """Return a handler that links notes with a word on the left to all notes with the word on the right."""

    def connect(request: ChatRequest) -> Decision:
        notes = request.fields["neighbours"].split("## Note ")[1:]
        wanted = [there for here, there in links.items() if here in request.fields["note"]]
        named = [number for number, note in enumerate(notes, 1) if any(word in note for word in wanted)]
        return Decision(links=named, tags=[], evolved=[])

    return connect


def a_mem(connect=NO_LINK, *, describe=PLAIN, keywords="no JSON", **parameters) -> AMem:
    return build(AMem, {"describe": describe, "connect": connect, "keywords": keywords}, **parameters)


def shown(recall: Recall) -> list[str]:
    """Return the texts of the recalled messages, in order."""
    return [item.meta["content"].removeprefix("user: ") for item in recall.entries]


def note_of(memory: AMem, message_id: str) -> Item:
    [item] = [item for item in memory.store.live(NOTE) if item.sources == (message_id,)]
    return item


async def test_read_returns_linked_notes_with_the_search_result() -> None:
    texts = ("Luna sleeps all day.", "Trains were late.", "Bread is baked.", "Our kitten likes tuna.")
    alone = a_mem(k=1)
    linked = a_mem(linking(kitten="Luna"), k=1)
    for memory in (alone, linked):
        await give(memory, said(*texts))
    assert shown(await alone.read("kitten and tuna")) == ["Our kitten likes tuna."]
    recall = await linked.read("kitten and tuna")
    assert shown(recall) == ["Our kitten likes tuna.", "Luna sleeps all day."]
    assert recall.sources == ("m3", "m0")
    assert recall.notes.index("Luna") < recall.notes.index("kitten")  # as it was said


async def test_read_follows_links_in_both_directions_up_to_the_limit() -> None:
    texts = ("apple", "pear", "plum", "fig")
    memory = a_mem(linking(pear="apple", plum="pear", fig="pear"), k=1)
    for number, text in enumerate(texts):
        await give(memory, said(text, first=number))
    assert shown(await memory.read("pear")) == ["pear", "apple", "plum", "fig"]
    assert shown(await memory.read("apple")) == ["apple", "pear"]
    memory.linked = 2
    assert shown(await memory.read("pear")) == ["pear", "apple", "plum"]
    memory.k, memory.linked = 4, 0
    assert len((await memory.read("pear")).entries) == 4


async def test_search_finds_an_evolved_note_by_its_new_tags() -> None:
    def connect(request: ChatRequest) -> Decision:
        change = Evolved(note=1, keywords=["Zanzibar"], context="A journey.", tags=["honeymoon"])
        wanted = "early" in request.fields["note"]
        return Decision(links=[1] if wanted else [], tags=[], evolved=[change] if wanted else [])

    memory = a_mem(connect, k=1, linked=0, k_links=1)
    await give(memory, said("We booked a flight.", "Trains were late."))
    before = note_of(memory, "m0")
    assert shown(await memory.read("honeymoon Zanzibar late")) == ["Trains were late."]
    await give(memory, said("The flight we booked is early.", first=2))
    after = note_of(memory, "m0")
    [old] = [item for item in memory.store if item.entry_id == before.entry_id]
    assert (old.until, after.since, after.previous, after.sources) == (3, 3, before.entry_id, ("m0",))
    assert after.meta["evolved_by"] == "m2" and after.meta["content"] == before.meta["content"]
    assert after.text.splitlines()[1:] == ["context: A journey.", "keywords: Zanzibar", "tags: honeymoon"]
    assert [vector_of(memory, after)] == [await embedded(memory, after)] != [await embedded(memory, before)]
    assert shown(await memory.read("honeymoon Zanzibar late")) == ["We booked a flight."]


def vector_of(memory: AMem, item: Item) -> list[float]:
    assert item.vector is not None
    return list(map(float, item.vector))


async def embedded(memory: AMem, item: Item) -> list[float]:
    meta = item.meta
    text = [meta["content"], ", ".join(meta["keywords"]), ", ".join(meta["tags"]), meta["context"]]
    return list(map(float, (await memory.embed(["\n".join(text)], "passage"))[0]))


async def test_link_to_an_unknown_note_is_retried_and_then_recorded_as_failure() -> None:
    memory = a_mem(Decision(links=[9], tags=[], evolved=[]))
    await give(memory, said("one", "two"))
    asked = requests(memory, "connect")
    assert [request.attempt for request in asked] == [0, 1, 2]
    assert "numbered 1 to 1" in asked[1].messages[-1].content
    [failure] = memory.store.live(FAILURE)
    assert failure.sources == ("m1",) and "no note 9" in failure.text
    assert note_of(memory, "m1").meta["links"] == [] and note_of(memory, "m1").meta["tags"] == ["talk"]


async def test_note_is_linked_even_if_the_description_request_fails() -> None:
    def some(request: ChatRequest) -> Described | str:
        return "no JSON" if "two" in request.fields["message"] else PLAIN

    memory = a_mem(linking(two="one"), describe=some)
    await give(memory, said("one", "two", sent_at="8 May 2023"))
    [failure] = memory.store.live(FAILURE)
    assert failure.sources == ("m1",) and "JSON" in failure.text
    one, two = note_of(memory, "m0"), note_of(memory, "m1")
    assert two.text == "[8 May 2023] user: two" and two.meta["links"] == [one.entry_id]


async def test_read_searches_with_generated_keywords_if_configured() -> None:
    texts = ("Luna sleeps.", "Who naps?")
    answer = Keywords(keywords=["Luna", "sleeps"])
    plain, made = a_mem(k=1), a_mem(keywords=answer, k=1, query="keywords")
    for memory in (plain, made):
        await give(memory, said(*texts))
    assert shown(await plain.read("Who naps?")) == ["Who naps?"]
    assert shown(await made.read("Who naps?")) == ["Luna sleeps."]
    assert requests(made, "keywords")[0].fields == {"question": "Who naps?"}
    broken = a_mem(query="keywords")
    await give(broken, said(*texts))
    with pytest.raises(RecallFailed, match="JSON"):
        await broken.read("Who naps?")


async def test_strengthening_rewrites_the_tags_of_the_new_note_and_embeds_it_again() -> None:
    """The published code replaces the new note's tags together with its links; a search finds it by the new tags."""

    def connect(request: ChatRequest) -> Decision:
        wanted = "Zanzibar" in request.fields["note"]
        return Decision(links=[1] if wanted else [], tags=["honeymoon"] if wanted else [], evolved=[])

    memory = a_mem(connect, k=1, linked=0)
    await give(memory, said("We booked a flight.", "Trains were late.", "Zanzibar it is."))
    note = note_of(memory, "m2")
    assert (note.meta["tags"], note.meta["links"]) == (["honeymoon"], [note_of(memory, "m0").entry_id])
    assert note.text.splitlines()[1:] == ["context: Said.", "keywords: word", "tags: honeymoon"]
    assert vector_of(memory, note) == await embedded(memory, note)
    assert shown(await memory.read("honeymoon")) == ["Zanzibar it is."]
    assert note_of(memory, "m1").meta["tags"] == ["talk"]  # an empty list keeps the tags
