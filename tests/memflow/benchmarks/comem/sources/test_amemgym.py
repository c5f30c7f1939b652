"""AMemGym's users as contexts: hand-computed labels, AMemGym's gold, and the published file."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.comem.contexts import KnownAnswer
from memflow.benchmarks.comem.load import load_contexts
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.records import Record

DOMAIN, THEIRS = find_domain("comem_amemgym"), find_domain("amemgym_base")
FILE = "amemgym/v1.base/data.json"
SET = find_dataset("comem_amemgym")


def session(tells: dict[str, str], day: str) -> dict[str, Any]:
    return {
        "event": None,
        "exposed_states": tells,
        "query": f"About {', '.join(tells.values())}.",
        "session_time": day,
    }


def period(sessions: list[dict[str, Any]], state: dict[str, str], updates: dict[str, Any]) -> dict[str, Any]:
    return {"period_end": "2020-10-01", "sessions": sessions, "state": state, "updates": updates}


HOT, COLD = {"drink": "tea", "place": "home"}, {"drink": "water", "place": "hall"}
USER = {
    "id": "u",
    "start_time": "2020-10-01",
    "user_profile": {"name": "Ann", "formatted_str": "Name: Ann"},
    "state_schema": {"drink": ["tea", "water"], "place": ["home", "hall"], "pet": ["cat", "dog"]},
    "periods": [
        period(
            [session({"drink": "tea"}, "1"), session({"pet": "cat"}, "2"), session({"place": "home"}, "3")],
            {**HOT, "pet": "cat"},
            {name: {"old": None, "new": value} for name, value in {**HOT, "pet": "cat"}.items()},
        ),
        period([session({"pet": "dog"}, "4")], {**HOT, "pet": "dog"}, {"pet": {"old": "cat", "new": "dog"}}),
        period(
            [session({"place": "hall"}, "5"), session({"drink": "water"}, "6")],
            {**COLD, "pet": "dog"},
            {name: {"old": HOT[name], "new": value} for name, value in COLD.items()},
        ),
    ],
    "qas": [
        {
            "query": "What shall I drink there?",
            "required_info": ["drink", "place"],
            "answer_choices": [
                {"state": ["water", "hall"], "answer": "Cold water."},
                {"state": ["tea", "home"], "answer": "Hot tea."},
            ],
        }
    ],
}


@pytest.fixture
def hand(bench: CoMem, tmp_path: Path) -> list[Record]:
    path = tmp_path / "data.json"
    path.write_text(json.dumps([USER]), encoding="utf-8")
    return bench.records(SET, {FILE: path})


@pytest.fixture
def rows(build: Callable[..., Any]) -> Callable[..., Any]:
    return lambda records, **given: build(replace(DOMAIN, parameters={**DOMAIN.parameters, **given}), records)


def test_first_messages_of_amemgym_user_become_context_with_one_session_per_period(hand: list[Record]):
    [context] = load_contexts(DOMAIN, hand)
    assert [(line.text, line.session, line.sent_at, line.role) for line in context.messages] == [
        ("About tea.", 0, "1", "user"),
        ("About cat.", 0, "2", "user"),
        ("About home.", 0, "3", "user"),
        ("About dog.", 1, "4", "user"),
        ("About hall.", 2, "5", "user"),
        ("About water.", 2, "6", "user"),
    ]


def test_answer_to_amemgym_question_is_known_from_message_with_last_needed_value(hand: list[Record]):
    [context] = load_contexts(DOMAIN, hand)
    [asked] = context.questions
    # Tea in the hall has no option: while that is the state, nothing new is known.
    assert asked.known == (KnownAnswer(3, 2, (0, 2)), KnownAnswer(6, 1, (4, 5)))
    assert (asked.options, asked.answer) == (("Cold water.", "Hot tea."), 1)


def test_gold_is_unknown_option_until_all_values_are_stated(rows: Callable[..., Any], hand: list[Record]):
    probes = rows(hand, checkpoints=(0.34, 0.5, 0.67, 1.0)).probes
    assert {tuple(probe.options) for probe in probes} == {("Cold water.", "Hot tea.", "I don't know.")}
    assert [(probe.gold, probe.evidence) for probe in probes] == [
        ("3", []),
        ("3", []),
        ("2", ["u/0.0", "u/0.2"]),
        ("2", ["u/0.0", "u/0.2"]),
        ("1", ["u/2.4", "u/2.5"]),
    ]


def test_question_without_option_for_known_state_is_quarantined(rows: Callable[..., Any], hand: list[Record]):
    probes = rows(hand, checkpoints=(0.5, 0.84, 1.0)).probes
    why = '"What shall I drink there?" has no option for the values that are known at checkpoint 2'
    assert {probe.reason for probe in probes} == {why}
    assert rows(hand, checkpoints=(0.5, 0.84, 1.0)).labels == []


def test_comem_label_equals_amemgym_gold_at_end_of_each_period(
    bench: CoMem, published_users: Callable[..., Path], tmp_path: Path
):
    path = published_users(tmp_path, users=3, periods=5, questions=3) / FILE
    assert _agrees_with_amemgym(bench, path) == 3 * 3 * 5


def _agrees_with_amemgym(bench: CoMem, path: Path) -> int:
    """Assert that labels at the ends of periods equal AMemGym's gold. Return the number of comparisons."""
    nobody: Any = None
    theirs, gym = find_dataset("amemgym_v1_base"), AMemGym()

    async def gold() -> dict[tuple[str, int], list[str]]:
        records = gym.records(theirs, {FILE: path})
        states = await gym.states(THEIRS, records, nobody)
        turns = await gym.turns(THEIRS, records, states, nobody)
        found: dict[tuple[str, int], list[str]] = {}
        for probe in await gym.probes(THEIRS, records, states, turns, nobody):
            if probe.kind == "choice":
                found.setdefault((probe.episode_id, probe.checkpoint), []).append(probe.gold)
        return found

    compared = 0
    known = {
        context.context_id: context for context in load_contexts(DOMAIN, bench.records(SET, {FILE: path}))
    }
    for (user, ended), golds in asyncio.run(gold()).items():
        context = known[user]
        visible = sum(line.session <= ended for line in context.messages)
        for asked, gold_there in zip(context.questions, golds, strict=True):
            assert asked.label_at(visible) == gold_there
            compared += 1
    return compared
