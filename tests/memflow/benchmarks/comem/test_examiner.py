"""The examiner of rule-based labels finds planted wrong golds of every kind, and none in dialogues read by hand."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import factories
import pytest

from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.comem.checks import EXPECTED, examine_labels
from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.registry import domains, find_domain
from memflow.checks.evaluation import check_rows
from memflow.records import Probe, Turn
from memflow.resources.data.library import Library

CONFIG = CoMemConfig(checkpoints=(0.25, 0.5, 0.75, 1.0), keys="rule")
UNKNOWN = "I don't know."
SCENES = [
    ("scene 1", "Ann", "I can't find Pete's boat."),
    ("scene 2", "Bo", "A wooden ladder fell."),
    ("scene 2", "Cy", "It was loud."),
    ("scene 3", "Dee", "Good night."),
]
OF_SCENE = "In season 1, episode 2, scene 2: What fell?"

# Golds by hand: per question, those of checkpoints 0 to 4. The gold at checkpoint 0 is that of checkpoint 1.
GOLDS = {
    ("scenes", OF_SCENE, ("the sea", "a wooden ladder", UNKNOWN)): "33222",
}


def said(episode: str, texts: list[dict[str, Any]]) -> list[Turn]:
    return [
        factories.turn(
            episode_id=episode, checkpoint=at + 1, event=at, position=0, message_id=f"{episode}/{at}", **text
        )
        for at, text in enumerate(texts)
    ]


@pytest.fixture
def turns() -> list[Turn]:
    scenes = [
        {"sent_at": f"season 1, episode 2, {scene}", "speaker": speaker, "text": text}
        for scene, speaker, text in SCENES
    ]
    return said("scenes", scenes)


@pytest.fixture
def probes() -> list[Probe]:
    return [
        factories.probe(
            probe_id=f"{question}/c{checkpoint}",
            question_id=question,
            episode_id=episode,
            checkpoint=checkpoint,
            question=question,
            options=list(options),
            gold=gold,
        )
        for (episode, question, options), golds in GOLDS.items()
        for checkpoint, gold in enumerate(golds)
    ]


def test_examiner_confirms_golds_labeled_by_hand(probes: list[Probe], turns: list[Turn]) -> None:
    found = examine_labels(CONFIG, probes, turns)
    assert found == {} and found.note == "examined 5 of 5 probes; not examined: 0.0%"


def test_examiner_finds_every_planted_wrong_gold(probes: list[Probe], turns: list[Turn]) -> None:
    """Each other option as gold, at every checkpoint: an early, a late, a stale and a wrong gold."""
    within_scene = {f"{OF_SCENE}/c2"}  # the words of an answer may precede the answer
    planted = 0
    for at, probe in enumerate(probes):
        for gold in {"1", "2", "3"} - {probe.gold}:
            world = [*probes]
            world[at] = replace(probe, gold=gold)
            allowed = gold == "3" and probe.probe_id in within_scene
            assert (at in examine_labels(CONFIG, world, turns)) is not allowed, (probe.probe_id, gold)
            planted += not allowed
    assert planted == 9


def test_examiner_finds_an_answer_outside_its_scene(probes: list[Probe], turns: list[Turn]) -> None:
    turns[1] = replace(turns[1], text="Something fell.")
    assert examine_labels(CONFIG, probes, turns)


def test_examiner_uses_only_messages_up_to_the_one_before_the_probe(
    probes: list[Probe], turns: list[Turn]
) -> None:
    last = next(probe for probe in probes if probe.question in next(iter(GOLDS)) and probe.checkpoint == 4)
    early = replace(last, after="scenes/0", gold="3")
    assert examine_labels(CONFIG, [early], turns) == {}
    assert examine_labels(CONFIG, [replace(early, gold="2")], turns)


def test_examiner_finds_no_wrong_gold_in_published_dialogues(build: Callable[..., Any]) -> None:
    source = "friendsqa"
    library = Library(os.environ.get("MEMFLOW_DATA"))
    if not library.found(source):
        pytest.skip(f"set MEMFLOW_DATA to a data folder that has {source}")
    found = next(
        each
        for each in domains().values()
        if source in each.datasets and each.parameters.get("keys") == "rule"
    )
    domain = replace(find_domain(found.name), datasets=(source,))
    rows = build(domain, CoMem().records(library.dataset(source), library.paths(source)))
    tables = {"question.probes": rows.probes, "utterance.turns": rows.turns}
    [result] = check_rows("question.probes", rows.probes, EXPECTED, tables.__getitem__, domain)
    assert (result.unexpected, result.error, result.severity) == (0, None, "error")
    assert "not examined: 0.0%" in result.note
