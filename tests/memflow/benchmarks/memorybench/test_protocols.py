"""Probes and episodes of each protocol, on the demo with the scripted chat."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.memorybench.protocols import own_episode
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.registry import find_domain
from memflow.chat.scripted import ScriptedChat
from memflow.records import Probe, Record
from memflow.run.play import Episode

TALK = "memorybench_sample-0"
CHAT = ScriptedChat(MemoryBench().handlers())
Walk = Callable[[Domain, list[Record]], Awaitable[Any]]


def episodes_of(run: Any) -> list[Episode]:
    return MemoryBench().episodes(run.domain, None, run.turns, run.feedback, CHAT, run.probes)  # type: ignore[arg-type]


def of(probes: list[Probe], split: str) -> list[Probe]:
    return [probe for probe in probes if probe.split == split]


def cases(episode: Episode, checkpoint: int) -> list[str]:
    first = [event.messages[0].message_id for event in episode.events if event.checkpoint == checkpoint]
    return [
        name.removeprefix("feedback/").rpartition("/")[0] for name in first if name.startswith("feedback/")
    ]


@pytest.fixture
def demo_of(run_domain: Walk, sample: list[Record]) -> Callable[[str], Awaitable[Any]]:
    async def walking(end: str) -> Any:
        return await run_domain(find_domain(f"memorybench_demo_{end}"), sample)

    return walking


async def test_off_policy_case_order_depends_on_seed_and_dialogues_precede_corpora(demo: Any) -> None:
    shared, talk = episodes_of(demo)
    order = cases(shared, 0)
    assert order != [probe.probe_id for probe in of(demo.probes, "train")]
    assert sorted(order) == sorted(probe.probe_id for probe in of(demo.probes, "train"))
    assert (talk.episode_id, talk.base) == (TALK, DIALOGUES)
    other = episodes_of(replace(demo, domain=replace(demo.domain, seed=7)))[0]
    assert cases(other, 0) != order


async def test_stepwise_episode_has_corpora_before_batches_of_training_cases(demo: Any, demo_of: Any) -> None:
    run = await demo_of("stepwise")
    (episode,) = episodes_of(run)
    assert (episode.episode_id, episode.base) == (DIALOGUES, None)
    assert {turn.base for turn in run.turns} == {None}
    assert Counter(event.checkpoint for event in episode.events) == {0: 6, 1: 8, 2: 8, 3: 8}
    assert cases(episode, 0) == []
    batches = [cases(episode, step) for step in (1, 2, 3)]
    assert [case for batch in batches for case in batch] == cases(episodes_of(demo)[0], 0)
    assert [event.number for event in episode.events] == list(range(30))


async def test_training_protocol_probes_training_cases_after_dialogues(demo: Any, demo_of: Any) -> None:
    run = await demo_of("training")
    train = of(run.probes, "train")
    test_probes = of(run.probes, "test")
    assert [probe.probe_id for probe in test_probes] == [f"{probe.probe_id}/again" for probe in train]
    assert [probe.episode_id for probe in test_probes] == [probe.episode_id for probe in train]
    evidence = {probe.probe_id: probe.evidence for probe in test_probes}
    assert evidence["sample_legal/lease-notice/again"] == ["feedback/sample_legal/lease-notice/2"]
    assert evidence[f"{TALK}/1/again"] == [f"{TALK}/D1:5"]
    assert [(each.episode_id, each.base) for each in episodes_of(run)] == [
        (DIALOGUES, None),
        (TALK, DIALOGUES),
    ]


async def test_same_protocol_probes_each_case_with_and_without_its_own_dialogue(demo_of: Any) -> None:
    run = await demo_of("same")
    train, test_probes = of(run.probes, "train"), of(run.probes, "test")
    assert len(test_probes) == 2 * len(train)
    places = {probe.probe_id: (probe.episode_id, probe.checkpoint) for probe in test_probes}
    lease, oboe = "sample_legal/lease-notice", f"{TALK}/1"
    assert places[f"{lease}/without"] == (own_episode(lease), 0)
    assert places[f"{lease}/with"] == (own_episode(lease), 1)
    assert places[f"{oboe}/without"] == (TALK, 0), "a case about a corpus is asked with it, in either"
    episodes = {episode.episode_id: episode for episode in episodes_of(run)}
    assert episodes.keys() == {TALK, *(own_episode(probe.probe_id) for probe in train)}
    assert episodes[own_episode(oboe)].base == TALK and episodes[own_episode(lease)].base is None
    (dialogue,) = episodes[own_episode(lease)].events
    assert (dialogue.checkpoint, dialogue.messages[0].message_id) == (1, f"feedback/{lease}/0")


@pytest.mark.parametrize("action", ["liked", "copied"])
async def test_learn_from_selects_dialogues_with_liked_or_copied_answer(demo_of: Any, action: str) -> None:
    run = await demo_of(action)
    rounds = [
        replace(row, **{action: row.case_id.endswith("notice") and row.round == 1}) for row in run.feedback
    ]
    chosen = {row.case_id for row in rounds if getattr(row, action)}
    assert chosen == {"sample_legal/lease-notice"}
    shared = episodes_of(replace(run, feedback=rounds))[0]
    assert cases(shared, 0) == list(chosen), "and the whole dialogue is, not the one answer"
    assert len(shared.events[0].messages) >= 4


@pytest.mark.parametrize("end", ["stepwise", "onpolicy"])
async def test_stepwise_probes_of_a_case_share_one_question_id(demo_of: Any, end: str) -> None:
    run = await demo_of(end)
    for probe in of(run.probes, "test"):
        assert probe.probe_id == f"{probe.question_id}/{probe.checkpoint}"
        assert probe.opens == (probe.checkpoint == 0)
    assert {(probe.question_id, probe.opens) for probe in of(run.probes, "train")} == {(None, False)}
