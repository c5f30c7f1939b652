"""Mem0: extraction with sources, the four update operations, and the prompts' context."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from memory_helpers import build, give, requests, said, sources

from memflow.chat.requests import ChatRequest
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.mem0.answers import Decision, Decisions, Fact, Facts, Summary
from memflow.memories.mem0.memory import SUMMARY, WINDOW, Mem0
from memflow.memories.mem0.updates import FACT
from memflow.memories.memory import FAILURE

NO_FACTS = Facts(facts=[])


def decided(fact: int, operation: str, memory: int = 0, text: str = "", replaces: bool = False) -> Decision:
    return Decision.model_validate(
        {"fact": fact, "operation": operation, "memory": memory, "text": text, "replaces": replaces}
    )


def extract(request: ChatRequest) -> Facts:
    """Return each message as a fact of its own."""
    lines = [line.partition(". ") for line in request.fields["messages"].splitlines()]
    return Facts(facts=[Fact(text=text.rpartition(": ")[2], messages=[int(at)]) for at, _, text in lines])


def summarise(request: ChatRequest) -> Summary:
    return Summary(text=f"{request.fields['summary']}+{len(request.fields['messages'].splitlines())}")


def mem0(*decisions: Sequence[Decision], answers: Mapping[str, object] | None = None, **parameters) -> Mem0:
    """Return a memory whose model decides as listed, request by request."""
    waiting = list(decisions)
    usual = {
        "extract": extract,
        "decide": lambda request: Decisions(decisions=list(waiting.pop(0))),
        "summarise": summarise,
    }
    return build(Mem0, {**usual, **(answers or {})}, **parameters)


def fields(memory: Mem0, stem: str) -> list[Mapping[str, str]]:
    return [request.fields for request in requests(memory, stem)]


async def test_update_that_replaces_a_fact_keeps_only_the_new_sources() -> None:
    memory = mem0([decided(1, "UPDATE", 1, "The car is blue now.", replaces=True)])
    await give(memory, said("The car is red.", sent_at="8 May 2023"))
    await give(memory, said("The car is blue.", first=1, sent_at="9 May 2023"))
    [fact] = memory.store.live(FACT)
    assert (fact.text, fact.sources) == ("[9 May 2023] The car is blue now.", ("m1",))
    [old] = [item for item in memory.store if item.until is not None and item.kind == FACT]
    assert (old.text, old.sources, old.until) == ("[8 May 2023] The car is red.", ("m0",), 2)
    assert fact.previous == old.entry_id
    assert (await memory.read("car")).sources == ("m1",)


async def test_update_that_extends_a_fact_keeps_old_and_new_sources() -> None:
    memory = mem0([decided(1, "UPDATE", 1, "[8 May 2023] The car is red and fast.")])
    await give(memory, said("The car is red.", sent_at="8 May 2023"))
    await give(memory, said("The car is fast.", first=1))
    [fact] = memory.store.live(FACT)
    # A message without a date was said at the date before; a date that the model copied appears once.
    assert (fact.text, fact.sources) == ("[8 May 2023] The car is red and fast.", ("m0", "m1"))
    [vector] = await HashingEmbedder().embed(["The car is red and fast."])
    assert fact.vector is not None and np.array_equal(fact.vector, vector)


async def test_delete_decision_retires_the_old_fact_and_add_stores_the_new_fact() -> None:
    memory = mem0([decided(1, "DELETE", 1)], [decided(1, "DELETE", 1), decided(1, "ADD")])
    await give(memory, said("The cat is ill.", "The dog is old."))
    await give(memory, said("Forget the cat.", first=2))
    assert [fact.text for fact in memory.store.live(FACT)] == ["The dog is old."]
    await give(memory, said("The dog is dead.", first=3))
    assert [(fact.text, fact.sources) for fact in memory.store.live(FACT)] == [("The dog is dead.", ("m3",))]


async def test_facts_are_extracted_per_message_pair_with_cited_sources() -> None:
    def cited(request: ChatRequest) -> Facts:
        if "Rex" not in request.fields["messages"]:
            return NO_FACTS
        return Facts(facts=[Fact(text="user has a dog", messages=[2, 1]), Fact(text="Rex", messages=[2])])

    memory = mem0(answers={"extract": cited})
    await give(memory, said("Nothing.", "At all.", "I have a dog.", "Rex."))
    assert [(fact.text, fact.sources) for fact in memory.store.live(FACT)] == [
        ("user has a dog", ("m2", "m3")),
        ("Rex", ("m3",)),
    ]


async def test_extraction_prompt_contains_summary_recent_messages_and_new_pair() -> None:
    memory = mem0(*[[decided(1, "NOOP"), decided(2, "NOOP")]] * 4, recent=3, refresh=4)
    await give(memory, said("a one", "b two", "c three", "d four"))
    first, second = fields(memory, "extract")
    assert (first["summary"], first["recent"]) == ("(none)", "(none)")
    assert first["messages"] == "1. user: a one\n2. user: b two"
    assert (second["recent"], second["messages"]) == (
        "user: a one\nuser: b two",
        "1. user: c three\n2. user: d four",
    )
    # Four messages were not in the summary: it was written beside, and is seen from the next arrival on.
    [summary] = memory.store.live(SUMMARY)
    assert (summary.text, summary.sources) == ("(none)+4", ("m0", "m1", "m2", "m3"))
    assert sources(memory, WINDOW) == [("m1",), ("m2",), ("m3",)]
    await give(memory, said("e five", "f six", first=4))
    third = fields(memory, "extract")[2]
    assert (third["summary"], third["recent"]) == ("(none)+4", "user: b two\nuser: c three\nuser: d four")
    assert len(fields(memory, "summarise")) == 1
    await give(memory, said("g seven", "h eight", first=6))
    # The summary takes in what it does not cover, and nothing twice.
    last = fields(memory, "summarise")[1]
    assert last["summary"] == "(none)+4"
    words = [line.rpartition(" ")[2] for line in last["messages"].splitlines()]
    assert words == ["five", "six", "seven", "eight"]
    assert memory.store.live(SUMMARY)[0].sources == tuple(f"m{at}" for at in range(8))


async def test_messages_stay_in_the_window_until_the_summary_covers_them() -> None:
    memory = mem0(*[[decided(1, "NOOP")]] * 2, recent=1, refresh=3)
    for at, text in enumerate(("one", "two", "three")):
        await give(memory, said(text, first=at))
    assert [each["recent"] for each in fields(memory, "extract")] == ["(none)", "user: one", "user: two"]
    assert memory.store.live(SUMMARY)[0].sources == ("m0", "m1", "m2")
    assert sources(memory, WINDOW) == [("m2",)]


async def test_failed_summary_is_retried_at_the_next_write_and_window_stays_bounded() -> None:
    answers = iter(["no JSON"] * 3)

    def sometimes(request: ChatRequest) -> Summary | str:
        return next(answers, None) or Summary(text=str(len(request.fields["messages"].splitlines())))

    memory = mem0(answers={"extract": NO_FACTS, "summarise": sometimes}, recent=2, refresh=3)
    await give(memory, said("one", "two", "three"))
    [lost] = memory.store.live(FAILURE)
    assert lost.sources == ("m0", "m1", "m2") and len(memory.store.live(WINDOW)) == 2
    await give(memory, said("four", first=3))
    [summary] = memory.store.live(SUMMARY)
    assert (summary.text, summary.sources) == ("3", ("m1", "m2", "m3"))


async def test_update_prompt_contains_similar_facts_and_read_returns_k_facts() -> None:
    memory = mem0([decided(1, "ADD")], similar=1, k=1, together=3)
    await give(memory, said("The car is red.", "The cat is old.", "Bread is cheap."))
    await give(memory, said("The old cat sleeps.", first=3))
    assert fields(memory, "decide")[0]["memories"] == "1. The cat is old."
    assert (await memory.read("bread")).notes == "Bread is cheap."


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ([decided(1, "UPDATE", 2, "x")], "UPDATE needs the number of a memory, from 1 to 1, not 2"),
        ([decided(1, "DELETE", 0)], "DELETE needs the number"),
        ([decided(1, "UPDATE", 1, " ")], "says no new text"),
        ([decided(3, "ADD")], "there is no fact 3"),
    ],
)
async def test_answer_with_only_invalid_decisions_is_recorded_as_failure(
    wrong: list[Decision], reason: str
) -> None:
    memory = mem0(*[wrong] * 3)
    await give(memory, said("The car is red."))
    await give(memory, said("The car is blue.", first=1))
    assert [fact.text for fact in memory.store.live(FACT)] == ["The car is red."]
    [lost] = memory.store.live(FAILURE)
    assert lost.sources == ("m1",) and reason in lost.text
    assert lost.text.endswith("lost fact: The car is blue.")


@pytest.mark.parametrize(
    ("joint", "alone", "facts", "reasons"),
    [
        (
            [decided(1, "ADD")],
            [decided(1, "ADD")],
            ["The car is red.", "The car is blue.", "It is fast."],
            [],
        ),
        ([decided(1, "ADD")], [decided(1, "NOOP")], ["The car is red.", "The car is blue."], []),
        (
            [decided(1, "DELETE", 1), decided(2, "DELETE", 1)],
            None,  # no memory is left to compare with: the second fact is added without a request
            ["It is fast."],
            ["mem0/decide: decisions: memory 1 is changed twice"],
        ),
        (
            [decided(1, "ADD"), decided(1, "NOOP"), decided(2, "ADD")],
            None,
            ["The car is red.", "The car is blue.", "It is fast."],
            ["mem0/decide: decisions: fact 1 has 2 of ADD, UPDATE and NOOP"],
        ),
    ],
)
async def test_fact_without_a_valid_decision_gets_a_separate_request(
    joint: list[Decision], alone: list[Decision] | None, facts: list[str], reasons: list[str]
) -> None:
    memory = mem0(joint, *([] if alone is None else [alone]))
    await give(memory, said("The car is red."))
    await give(memory, said("The car is blue.", "It is fast.", first=1))
    assert [fact.text for fact in memory.store.live(FACT)] == facts
    assert [lost.text.partition(";")[0] for lost in memory.store.live(FAILURE)] == reasons
    shown = [each["facts"] for each in fields(memory, "decide")]
    assert shown == ["1. The car is blue.\n2. It is fast.", *([] if alone is None else ["1. It is fast."])]


async def test_unusable_joint_answer_loses_only_facts_whose_separate_request_fails() -> None:
    def decide(request: ChatRequest) -> Decisions | str:
        one = request.fields["facts"] == "1. The car is blue."
        return Decisions(decisions=[decided(1, "UPDATE", 1, "Blue.", replaces=True)]) if one else "no JSON"

    memory = mem0(answers={"decide": decide})
    await give(memory, said("The car is red."))
    await give(memory, said("The car is blue.", "It is fast.", first=1))
    assert [(fact.text, fact.sources) for fact in memory.store.live(FACT)] == [("Blue.", ("m1",))]
    request, lost = memory.store.live(FAILURE)
    assert request.sources == ("m1", "m2") and "no usable answer" in request.text
    assert lost.sources == ("m2",) and "no usable answer" in lost.text
    assert lost.text.endswith("lost fact: It is fast.")
