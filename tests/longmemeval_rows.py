"""Questions and rows in the format of LongMemEval."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.benchmark import LongMemEval
from memflow.benchmarks.registry import find_dataset
from memflow.memories.memory import Memory, Message
from memflow.records import Probe, Record, Reply, Turn, Verdict

ORACLE = find_dataset("longmemeval_oracle")

DAY = "2024/01/{:02d} (Mon) 10:00"
Instance = dict[str, Any]
SESSIONS = [
    [("user", "I own a red bicycle."), ("assistant", "Nice."), ("user", "My cat is called Pebble.")],
    [("assistant", "Welcome back."), ("user", "I sold the bicycle."), ("assistant", "For how much?")],
    [("assistant", "Only I speak here of the bicycle.")],
]


def instance(question_id: str = "q1", kind: str = "multi-session", /, **changes: Any) -> Instance:
    """Return a question with two sessions in the published format; the second is its evidence."""
    made: Instance = {
        "question_id": question_id,
        "question_type": kind,
        "question": "Where is the key?",
        "answer": "in the jar",
        "question_date": DAY.format(20),
        "haystack_session_ids": ["filler", "answer_1"],
        "haystack_dates": [DAY.format(1), DAY.format(2)],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi!"}],
            [
                {"role": "user", "content": "The key is in the jar.", "has_answer": True},
                {"role": "assistant", "content": "Noted.", "has_answer": False},
            ],
        ],
        "answer_session_ids": ["answer_1"],
    }
    return {**made, **changes}


def domain(**parameters: Any) -> Domain:
    return Domain("longmemeval_oracle", "longmemeval", (ORACLE.name,), "", parameters)


async def rows(of: Domain, records: Sequence[Record]) -> tuple[list[Turn], list[Probe]]:
    """Return the turns and probes of a domain."""
    benchmark = LongMemEval()
    states, no_chat = await benchmark.states(of, records, None), None  # type: ignore[arg-type]
    turns = await benchmark.turns(of, records, states, no_chat)  # type: ignore[arg-type]
    return turns, await benchmark.probes(of, records, states, turns, no_chat)  # type: ignore[arg-type]


def reply(probe: Probe, **changes: Any) -> Reply:
    """Return an answered reply to a probe."""
    made: dict[str, Any] = {
        "domain": probe.domain,
        "assistant": "memory",
        "probe_id": probe.probe_id,
        "episode_id": probe.episode_id,
        "checkpoint": 0,
        "text": "in the jar",
        "parsed": "in the jar",
        "recalled": [],
        "recalled_sources": [],
        "model": "m",
    }
    return Reply(**{**made, **changes})


def results(
    probes: Sequence[Probe], verdicts: Sequence[Verdict], domain: str = ORACLE.name
) -> AssistantResults:
    """Return the results of an assistant."""
    return AssistantResults(
        domain=domain,
        assistant="memory",
        memory="memory",
        model="m",
        probes=probes,
        verdicts=verdicts,
        oracle=(),
        none=(),
        simulator="",
        scripted=False,
    )


def lines(path: Path) -> list[Any]:
    """Return the values of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


async def write(memory: Memory, sessions: Sequence[Sequence[tuple[str, str]]] = SESSIONS) -> Memory:
    """Write sessions to a memory, one a day."""
    for day, session in enumerate(sessions, 1):
        messages = [
            Message(f"s{day}/t{place}{role[0]}", role, text, sent_at=DAY.format(day))  # type: ignore[arg-type]
            for place, (role, text) in enumerate(session, 1)
        ]
        memory.store.advance(len(messages))
        await memory.write(messages)
    return memory
