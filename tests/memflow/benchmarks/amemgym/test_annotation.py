"""Annotation items of AMemGym: shown facts, hidden answers, sampling, and rejected input."""

import asyncio
import json
from dataclasses import replace

import pytest

from memflow.annotation.kind import DomainTables
from memflow.annotation.sheet import Sheet
from memflow.benchmarks.amemgym.annotation import KINDS
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.states import histories
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadInput
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.run.play import play_all
from memflow.run.transcripts import transcript_rows


@pytest.fixture(scope="module")
def tables(demo) -> DomainTables:
    benchmark = AMemGym()
    chat = ScriptedChat(benchmark.handlers())
    episodes = benchmark.episodes(demo.domain, demo.states, demo.turns, [], chat)
    tools = Tools(chat, HashingEmbedder())
    played = asyncio.run(
        play_all(episodes, memory_factory("full", tools), benchmark.replier(demo.domain, chat))
    )
    return DomainTables(demo.states, demo.turns, demo.probes, transcript_rows("amemgym_demo", "full", played))


def sheet(tables: DomainTables, kind: str, **options) -> tuple[Sheet, dict[str, str]]:
    return KINDS[kind].sample("amemgym_demo", tables, **options)


def facts(item) -> dict[str, str]:
    return {fact.title: fact.text for fact in item.facts}


def test_exposure_item_shows_current_and_previous_value_of_variable(tables) -> None:
    found, key = sheet(tables, "exposure")
    turns = {turn.message_id: turn for turn in tables.turns}
    histories_by_user = histories(tables.states)
    assert key == {} and {unit.id for unit in found.units} == set(turns)
    for unit in found.units:
        turn = turns[unit.id]
        assert unit.shown[0].text == turn.text.partition("\n")[2] and "Current Time" not in unit.shown[0].text
        exposed = json.loads(turn.exposes)
        assert [item.id for item in unit.items] == [f"{unit.id}#{name}" for name in exposed]
        for item, (name, now) in zip(unit.items, exposed.items(), strict=True):
            told = facts(item)
            assert told[f"{name} is now"] == now
            history = histories_by_user[turn.episode_id]
            before = history.periods[turn.checkpoint - 1][name] if turn.checkpoint else None
            assert told.get("was before") == before
            assert told["could be"] == ", ".join(history.schema[name])
            assert [label.value for label in item.labels] == [1, 0.5, 0]


def test_integrity_unit_lists_every_current_state_of_the_user(tables) -> None:
    found, key = sheet(tables, "integrity", assistant="full")
    histories_by_user = histories(tables.states)
    assert key == {} and found.units
    for unit in found.units:
        spoken = [
            said
            for said in tables.said
            if f"{said.episode_id}/{said.event}" == unit.id and said.role == "user"
        ]
        assert len(spoken) == len(unit.shown) == 2
        assert unit.shown[1].text == spoken[1].text and spoken[1].origin == "simulator"
        state = histories_by_user[unit.episode].periods[spoken[0].checkpoint]
        assert {fact.title: fact.text for item in unit.items for fact in item.facts} == state
        assert [label.value for label in unit.items[0].labels] == [1, 0.5, 0]


def test_reliability_sheet_has_one_unit_per_question_and_gold_option(tables) -> None:
    found, key = sheet(tables, "reliability", count=1_000)
    asked = [probe for probe in tables.probes if probe.kind == "choice" and probe.reason is None]
    probes = {probe.probe_id: probe for probe in asked}
    assert len(found.units) == len({(each.episode_id, each.question, each.gold) for each in asked})
    for unit in found.units:
        probe, [item] = probes[unit.id], unit.items
        says = {label.name: label.says for label in item.labels}
        assert says[key[item.id]] == probe.options[int(probe.gold) - 1]
        assert set(probe.options) < set(says.values())
        assert [label.name for label in item.labels][-2:] == ["several", "no_option"]
        for name, now in json.loads(probe.revealed).items():
            assert f"{name}: {now}" in unit.shown[1].text


def test_annotation_sheet_excludes_quarantined_messages(tables) -> None:
    lost = tables.turns[0]
    spoiled = replace(tables, turns=[replace(lost, reason="no"), *tables.turns[1:]])
    found, _ = sheet(spoiled, "exposure")
    assert lost.message_id not in {unit.id for unit in found.units}
    assert found.header.population == len(tables.turns) - 1
    silent = replace(tables, said=[replace(said, reason="no") for said in tables.said])
    with pytest.raises(BadInput, match="no sessions, so no sheet of integrity"):
        sheet(silent, "integrity", assistant="full")


def test_default_annotation_sample_sizes_match_paper(tables) -> None:
    assert {name: kind.config.draw for name, kind in KINDS.items()} == {
        "exposure": 200,
        "integrity": 40,
        "reliability": 200,
    }
    assert sheet(tables, "exposure", count=7)[0].header.drawn == 7
