"""Planted faults of memories and memory servers, played by the real player: which measure finds each, as what.

A fault that a run's data cannot show: a server that finds a write only after the next request, and is read later.
"""

from collections.abc import Sequence
from typing import Any

import planted_memories
import pytest
from faulty_server import Faults
from health_domain import health_domain
from planted_memories import planted_server
from server_evaluation import evaluate, python_memory, server_memory

from memflow.records import HealthMeasure
from memflow.scoring.health import overall_state
from memflow.scoring.health.states import FAULTY, NOT_MEASURABLE, OK, SUSPECT

STEPS = ("memories", "replies", "verdicts", "attributions", "health")

PYTHON = {
    "Cap": ("item_cap", FAULTY),
    "DropsAfterTwentieth": ("stopped_storing", FAULTY),
    "DropsLong": ("lost_writes", SUSPECT),
    "DropsDigits": ("lost_writes", SUSPECT),
    "DropsScript": ("lost_writes", SUSPECT),
    "DropsAll": ("unstored_messages", FAULTY),
    "OneRole": ("unstored_role", SUSPECT),
    "LastSession": ("forgotten_messages", SUSPECT),
    "Overwrites": ("forgotten_messages", SUSPECT),
    "EatsDuplicates": ("unstored_repeats", SUSPECT),
    "DeafToLong": ("missed_reads", FAULTY),
    "BlindToLong": ("missed_reads", SUSPECT),
    "DeafToScript": ("missed_reads", FAULTY),
    "CutsTexts": ("cut_texts", SUSPECT),
    "LosesDigits": ("altered_texts", SUSPECT),
    "IndexedOnce": ("stale_reads", FAULTY),
    "SameAnswer": ("same_items", SUSPECT),
    "LeaksEntries": ("foreign_entries", FAULTY),
    "Reversed": ("reversed_order", SUSPECT),
    "WorstFirst": ("missed_reads", SUSPECT),
    "Threshold": ("empty_reads", FAULTY),
    "SwallowsReads": ("empty_reads", FAULTY),
    "FailsToWrite": ("failed_writes", FAULTY),
}
"""The measure that finds the fault of each class of planted_memories.py, and its state."""

SERVERS: dict[str, tuple[dict[str, Any], str, str]] = {
    "cap": ({"fault": "cap"}, "item_cap", FAULTY),
    "drops after 20 writes": ({"fault": "drops"}, "stopped_storing", FAULTY),
    "deaf": ({"fault": "deaf"}, "missed_reads", FAULTY),
    "one role": ({"fault": "role"}, "unstored_role", SUSPECT),
    "cuts": ({"fault": "cuts"}, "cut_texts", SUSPECT),
    "ids used twice": ({"fault": "ids"}, "reused_ids", SUSPECT),
    "every write fails": ({"fault": "fails"}, "failed_writes", FAULTY),
    "keeps the newest": ({"capacity": 28}, "forgotten_messages", SUSPECT),
    "leaks": ({"faults": Faults(leak=True)}, "failed_reads", SUSPECT),
    "leaks without sources": ({"faults": Faults(leak=True), "sources": "none"}, "unexported_reads", FAULTY),
    "false time travel": ({"faults": Faults(stale_as_of=True)}, "failed_reads", SUSPECT),
    "false time travel without sources": (
        {"faults": Faults(stale_as_of=True), "sources": "none"},
        "future_entries",
        FAULTY,
    ),
}
"""The options of a faulty server, the measure that finds the fault, and its state."""

STATEMENTS = {
    "Cap": "reads returned exactly 3 items and none more, although they asked for 10",
    "DropsAfterTwentieth": "nothing is stored after message 20",
    "DeafToLong": "queries of more than 12 words: 0 of",
    "DropsDigits": "messages with digits: 0 of",
    "DropsScript": "messages with letters of another script: 0 of",
    "LosesDigits": "stored texts lack numbers of their message",
    "SwallowsReads": "reads were empty although entries were live",
}
"""What a statement says of the fault, in the words of a user who has it."""


def alarms(rows: Sequence[HealthMeasure]) -> dict[str, str]:
    return {row.measure: row.state for row in rows if row.state in (SUSPECT, FAULTY)}


def health_of(memory: Any, server: Any = None) -> list[HealthMeasure]:
    planted_memories.SAID.clear()
    domain: Any = health_domain()
    rows: list[HealthMeasure] = evaluate(domain, memory, server, steps=STEPS)["score.health"]
    return rows


@pytest.mark.parametrize("name", PYTHON)
def test_fault_of_a_python_memory_is_found(name: str) -> None:
    measure, state = PYTHON[name]
    rows = health_of(python_memory(f"planted_memories:{name}"))
    found = {row.measure: row for row in rows}
    assert found[measure].state == state, found[measure]
    assert STATEMENTS.get(name, "") in found[measure].statement
    assert found[measure].examples
    assert 0 < found[measure].affected <= found[measure].n
    assert (overall_state(rows)[0] == FAULTY) == (FAULTY in alarms(rows).values())


@pytest.mark.parametrize("name", SERVERS)
def test_fault_of_a_memory_server_is_found(name: str) -> None:
    options, measure, state = SERVERS[name]
    rows = health_of(server_memory(k=30), planted_server(**options))
    found = {row.measure: row for row in rows}
    assert found[measure].state == state, found[measure]


@pytest.mark.parametrize(
    "name",
    ["Healthy", "DeclaredRole", "DeclaredWindow", "DeclaredMerging", "DeclaredThreshold", "DeclaredCap"],
)
def test_healthy_memory_and_declared_designs_raise_no_alarm(name: str) -> None:
    rows = health_of(python_memory(f"planted_memories:{name}"))
    assert alarms(rows) == {}
    assert overall_state(rows)[0] == OK


@pytest.mark.parametrize("options", [{}, {"sources": "none"}, {"export": "none"}, {"ranked": False}], ids=str)
def test_healthy_server_raises_no_alarm(options: dict[str, Any]) -> None:
    assert alarms(health_of(server_memory(k=30), planted_server(**options))) == {}


def test_server_without_export_has_measures_that_are_not_measurable_with_a_reason() -> None:
    rows = {row.measure: row for row in health_of(server_memory(k=30), planted_server(export="none"))}
    for measure in ("unstored_messages", "lost_writes", "forgotten_messages", "stopped_storing"):
        assert rows[measure].state == NOT_MEASURABLE
        assert rows[measure].reason == "the memory server does not export its items"
