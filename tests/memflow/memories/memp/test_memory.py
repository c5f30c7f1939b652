"""Memp: procedures are built, retrieved, counted, dropped and rewritten."""

import pytest
from memory_helpers import build, give, requests, said, sources

from memflow.chat.requests import ChatRequest
from memflow.memories.memory import FAILURE, Message
from memflow.memories.memp.answers import Outcome, Procedure, Reflection, Rewrite
from memflow.memories.memp.memory import BUFFER, PROCEDURE, Memp

UPDATES = ["vanilla", "validation", "reflection"]


def memp(outcome: str = "success", rewrite: int = 1, **parameters) -> Memp:
    """Return a memory whose model judges every exchange as `outcome` and rewrites the procedure numbered `rewrite`."""

    def made(request: ChatRequest) -> Procedure:
        line = next(line for line in request.fields["trajectory"].splitlines() if ": " in line)
        return Procedure(query=line.partition(": ")[2], workflow=f"do as in {line}")

    better = Reflection(analysis="a slip", rewrites=[Rewrite(number=rewrite, workflow="the better way")])
    return build(Memp, {"build": made, "outcome": Outcome(outcome=outcome), "reflect": better}, **parameters)


def judge(memory: Memp, outcome: str) -> None:
    """Make the model judge every later exchange as `outcome`."""
    memory.tools.chat.handlers["memp/outcome"] = lambda request: Outcome(outcome=outcome)


async def exchange(memory: Memp, number: int, asked: str, replied: str = "Gladly.") -> None:
    """Read for the user's message (not frozen), then write the message with its reply, as the player does."""
    memory.store.advance(1)
    await memory.read(asked, frozen=False)
    memory.store.advance(1)
    await memory.write([Message(f"u{number}", "user", asked), Message(f"a{number}", "assistant", replied)])


def dialogue(*texts: str, first: int = 0) -> list[Message]:
    roles = ("user", "assistant")
    return [Message(f"m{first + at}", roles[at % 2], text) for at, text in enumerate(texts)]


def procedures(memory: Memp) -> list[tuple[str, int, int]]:
    return [
        (item.meta["query"], item.meta["hit"], item.meta["success"]) for item in memory.store.live(PROCEDURE)
    ]


async def test_written_messages_become_a_procedure_without_an_outcome_request() -> None:
    memory = memp()
    await give(memory, [Message("m0", "user", "bake bread", sent_at="8 May"), *dialogue("-", "Knead.")[1:]])
    [item] = memory.store.live(PROCEDURE)
    assert memory.store.live(BUFFER) == []
    assert item.text == "- [8 May] bake bread\ndo as in user: bake bread"
    assert item.sources == ("m0", "m1")
    assert requests(memory, "build")[0].fields["trajectory"] == "[8 May]\nuser: bake bread\nassistant: Knead."
    assert requests(memory, "outcome") == []  # vanilla, and nothing was read: no one needs to know


async def test_read_finds_a_procedure_whose_query_similarity_exceeds_the_threshold() -> None:
    async def filled(**parameters: object) -> Memp:
        memory = memp(**parameters)
        for at, text in enumerate(["bake fresh bread", "sail at dawn", "bake a cake"]):
            await give(memory, said(text, first=at))
        return memory

    assert (await (await filled(threshold=0.9)).read("bake fresh bread")).sources == ("m0",)
    assert (await (await filled(threshold=-1.0, k=2)).read("bake fresh bread")).sources == ("m0", "m2")
    assert (await (await filled(threshold=1.0)).read("bread of the bakery")).entries == ()
    # The workflow holds every word of this one, the query none: it is the query that counts.
    assert (await (await filled(threshold=0.5)).read("do as in user")).entries == ()


async def test_exchange_becomes_a_procedure_only_after_the_next_user_message() -> None:
    memory = memp(update="validation")
    await exchange(memory, 0, "bake bread")
    assert memory.store.live(PROCEDURE) == [] and requests(memory) == []
    recall = await memory.read("bake bread")
    assert [turn.content for turn in recall.messages] == ["bake bread", "Gladly."]
    await exchange(memory, 1, "Thank you.")
    [judged] = requests(memory, "outcome")
    assert judged.fields == {"exchange": "user: bake bread\nassistant: Gladly.", "after": "user: Thank you."}
    [item] = memory.store.live(PROCEDURE)
    assert item.sources == ("u0", "a0")
    assert sources(memory, BUFFER) == [("u1",), ("a1",)]


async def test_procedure_is_dropped_after_three_failed_uses() -> None:
    memory = memp("failure", threshold=0.99)
    await give(memory, said("bake bread"))
    for number in range(3):
        await exchange(memory, number, "bake bread")
        # The hit of this exchange counts once the user speaks again.
        assert procedures(memory)[0] == ("bake bread", number, 0)
    first = memory.store.live(PROCEDURE)[0]
    await exchange(memory, 3, "sail at dawn")
    assert memory.store.latest(first.entry_id) is None
    # Vanilla wrote the exchange itself down again, as it adds everything.
    assert procedures(memory) == [("bake bread", 0, 0)]


async def test_procedure_is_kept_while_at_least_half_of_its_uses_succeed() -> None:
    memory = memp(threshold=0.99, update="validation")
    await give(memory, said("bake bread"))
    tallies = []
    for number, outcome in enumerate(["success", "success", "failure", "failure", "unclear", "failure"]):
        await exchange(memory, number, "bake bread")
        judge(memory, outcome)
        await exchange(memory, 100 + number, "quite another thing")
        judge(memory, "unclear")
        tallies.append(next((tally[1:] for tally in procedures(memory) if tally[0] == "bake bread"), None))
    assert tallies == [(1, 1), (2, 2), (3, 2), (4, 2), (4, 2), None]


async def test_validation_mode_skips_only_failed_trajectories() -> None:
    for outcome, kept in (("failure", 0), ("success", 1), ("unclear", 1)):
        memory = memp(outcome, update="validation")
        await give(memory, dialogue("bake bread", "Buy it.", "That is wrong."))
        assert len(memory.store.live(PROCEDURE)) == kept
        assert len(requests(memory, "build")) == kept  # what is left out is not even asked for
    assert [item.sources for item in memory.store][:3] == [("m0",), ("m1",), ("m2",)]  # in the past


async def test_reflection_mode_rewrites_the_retrieved_procedure_after_a_failure() -> None:
    memory = memp(threshold=0.99, update="reflection")
    await give(memory, said("bake bread"))
    [old] = memory.store.live(PROCEDURE)
    await exchange(memory, 0, "bake bread")
    judge(memory, "failure")
    await exchange(memory, 1, "That is wrong.")
    [new] = memory.store.live(PROCEDURE)  # the failed exchange is not added
    assert new.text == "- bake bread\nthe better way"
    assert (new.meta["hit"], new.meta["success"]) == (1, 0)
    assert new.sources == ("m0", "u0", "a0")
    versions = {item.entry_id: item for item in memory.store}
    counted = versions[new.previous or ""]
    assert counted.previous == old.entry_id and counted.text == old.text
    [asked] = requests(memory, "reflect")
    assert asked.fields["procedures"] == f"1. {old.text}"
    assert asked.fields["after"] == "user: That is wrong."
    assert (await memory.read("bake bread")).entries[0] == new  # its vector is still the query's


async def test_equal_procedures_are_merged_with_both_sources() -> None:
    memory = memp()
    await give(memory, said("bake bread"))
    await give(memory, said("bake bread", first=1))
    [item] = memory.store.live(PROCEDURE)
    assert item.sources == ("m0", "m1") and item.previous is not None


async def test_proceduralization_mode_appends_the_trajectory_to_the_procedure() -> None:
    memory = memp(build="proceduralization")
    await give(memory, dialogue("bake bread", "Knead."))
    [item] = memory.store.live(PROCEDURE)
    assert item.text.splitlines()[2:] == ["user: bake bread", "assistant: Knead."]


@pytest.mark.parametrize("update", UPDATES)
async def test_unparsed_answers_are_recorded_as_failures_and_later_writes_succeed(update: str) -> None:
    memory = memp(threshold=0.99, update=update)
    await give(memory, said("bake bread"))
    await exchange(memory, 0, "bake bread")
    working = memory.tools
    memory.tools = build(Memp, dict.fromkeys(("build", "outcome", "reflect"), "no JSON")).tools
    await exchange(memory, 1, "sail at dawn")
    lost = memory.store.live(FAILURE)
    assert [item.text.partition(":")[0] for item in lost] == ["memp/outcome", "memp/build"]
    assert all(item.sources == ("u0", "a0") for item in lost)
    assert procedures(memory) == [("bake bread", 0, 0)]  # not judged, so not counted
    memory.tools = working
    await exchange(memory, 2, "thank you")
    assert [query for query, *_ in procedures(memory)] == ["bake bread", "sail at dawn"]
