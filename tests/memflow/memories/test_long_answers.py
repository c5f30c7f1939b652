"""Long answers: memories keep texts of the lengths that a real model writes, and an invalid item costs only itself.

A scripted answer is lengthened to 264 to 1,241 characters per text (the mean and the longest of recorded AWI values),
and invalid items are inserted between the items of its lists.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import count, pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_helpers import build, case, give

from memflow.chat.requests import ChatRequest
from memflow.memories.awi.memory import FACT, Awi
from memflow.memories.memory import AT_LIMIT, FAILURE, Memory, Message, ModelWrittenMemory
from memflow.memories.systems import SYSTEMS, System

SHORTEST, LONGEST = 264, 1241
INVALID = (None, 17.5, {"unknown": True}, "x" * 9_000)
KEYWORDS = (
    *("function", "operation", "event", "id", "outcome", "name"),
    *("section", "start_date", "end_date", "dimension", "level", "attribute"),
)
"""Fields that are not lengthened: fixed values, and names by which the scripted handlers look entities up."""
PARAMETERS: dict[str, dict[str, Any]] = {
    "a_mem": {"query": "keywords"},
    "awe": {"freq": 1, "ns": 0},
    "awi": {"freq": 1, "ns": 0},
    "awi_complete_cycles": {"freq": 1, "ns": 0},
    "generative_agent": {"threshold": 10},
    "mem_gpt": {"budget": 40_000, "working": 0.9, "warning_threshold": 0.001, "flush_threshold": 0.002},
    "memp_reflection": {"threshold": -1.0},
    "memory_os": {"short": 1, "tau": 1.5},
    "nemori": {"longest": 3},
    "sc_memory": {"flash": 1},
}
MESSAGES = [
    message
    for day, said in enumerate(
        (
            "My car is old.",
            "My cat is old.",
            "My car is new.",
            "That is wrong. My cat is young.",
            "My car is red.",
        )
    )
    for message in (
        Message(f"m{2 * day}", "user", said, sent_at=f"{day + 1} May 2023"),
        Message(f"m{2 * day + 1}", "assistant", f"Noted. {said}"),
    )
]
SYSTEMS_THAT_WRITE = {
    system.memory: case(system)
    for system in (*SYSTEMS.values(), SYSTEMS["memp_reflection"])
    if issubclass(system.memory, ModelWrittenMemory)
}


def lengthen(value: Any, random: Random) -> Any:
    """Return an answer whose texts, except keywords, have SHORTEST to LONGEST characters."""
    if isinstance(value, str):
        further = " ".join(f"and {random.randrange(16**6):06x}" for _ in range(124))
        return f"{value} {further}"[: max(random.randint(SHORTEST, LONGEST), len(value))]
    if isinstance(value, list):
        return [lengthen(item, random) for item in value]
    if isinstance(value, dict):
        return {
            name: each if name in KEYWORDS or each == "" else lengthen(each, random)
            for name, each in value.items()
        }
    return value


class Interferer:
    """Inserts an invalid item into some lists of answers; `inserted` counts these items."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.inserted = 0

    def __call__(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self(each) for name, each in value.items()}
        if not isinstance(value, list) or not value:
            return value
        items = [self(item) for item in value]
        for _ in range(self.random.randrange(3)):
            items.insert(self.random.randint(0, len(items)), self.random.choice(INVALID))
            self.inserted += 1
        return items


async def write_all(
    system: System, seed: int, change: Callable[[Any], Any] = lambda answer: answer
) -> Memory:
    """Return the memory after all messages, for a model whose lengthened answers `change` alters."""

    def long(handler: Callable[[ChatRequest], Any], stem: str) -> Callable[[ChatRequest], str]:
        numbers = count()

        def answer(request: ChatRequest) -> str:
            random = Random(f"{seed} {stem} {next(numbers)}")
            return json.dumps(change(lengthen(handler(request).model_dump(), random)))

        return answer

    handlers = {
        name.partition("/")[2]: long(handler, name) for name, handler in system.memory.handlers().items()
    }
    parameters = PARAMETERS.get(system.name, {}) | dict(system.fixed)
    memory = build(system.memory, handlers, **parameters)
    for at in range(0, len(MESSAGES), 2):
        recall = await memory.read(MESSAGES[at].text, frozen=False)
        for reason in recall.failed:
            memory.store.add(FAILURE, reason, sources=())
        await give(memory, MESSAGES[at : at + 2])
    return memory


def content(memory: Memory) -> list[tuple[Any, ...]]:
    """Return everything that the memory wrote, without failures and ids."""
    return [
        (item.kind, item.text, item.sources, item.since, item.until)
        for item in memory.store
        if item.kind not in memory.bookkeeping_kinds
    ]


@pytest.mark.parametrize("system", SYSTEMS_THAT_WRITE.values())
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_memory_stores_valid_items_of_long_answers_and_records_invalid_items(
    system: System, seed: int
) -> None:
    interfere = Interferer(Random(seed))
    usual = asyncio.run(write_all(system, seed))
    disturbed = asyncio.run(write_all(system, seed, interfere))
    assert [item.text for item in usual.store if item.kind in (FAILURE, AT_LIMIT)] == []
    assert content(disturbed) == content(usual)
    recalls = [asyncio.run(memory.read("Is my car old?")) for memory in (usual, disturbed)]
    assert recalls[0].notes == recalls[1].notes and recalls[0].failed == ()
    failures = sum(item.kind == FAILURE for item in disturbed.store) + len(recalls[1].failed)
    assert failures == interfere.inserted


async def check_awi_holds(states: Sequence[Mapping[str, str]]) -> None:
    """Check that AWI holds each state after a model has answered with the labels that the state adds or changes."""
    changes = [
        {label: value for label, value in state.items() if before.get(label) != value}
        for before, state in pairwise([{}, *states])
    ]
    answers = [
        {"facts": [{"label": label, "value": value} for label, value in each.items()]} for each in changes
    ]
    waiting = iter(answers)
    memory = build(Awi, {"update": lambda request: json.dumps(next(waiting))}, freq=1, ns=0)
    for number, state in enumerate(states):
        await give(memory, [Message(f"m{number}", "user", "Hello.")])
        assert {item.text for item in memory.store.live(FACT)} == {f"- {one}: {state[one]}" for one in state}
    assert memory.store.live(FAILURE, AT_LIMIT) == []


def test_awi_stores_all_items_of_recorded_answers_of_a_real_model() -> None:
    """The states of the published code's AWI after each period, as qwen-14b wrote them (data set amemgym_runs)."""
    folder = Path(os.environ.get("MEMFLOW_DATA", "."), "amemgym_runs", "awi")
    runs = sorted(folder.glob("*/in_context_memory_by_period.json"))
    if not runs:
        pytest.skip("set MEMFLOW_DATA to a data folder with amemgym_runs")
    for run in runs:
        periods = json.loads(run.read_text(encoding="utf-8"))
        states = [{one["label"]: one["value"] for one in periods[name]} for name in sorted(periods)]
        asyncio.run(check_awi_holds(states))
