"""Twenty lives, told by the scripted chat: every reflective kind and every recommendation is asked for, and what is
expected of them holds, until a row is damaged."""

import asyncio
import json
from collections import Counter
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest

from memflow.benchmarks.datasets import dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.checks.reflective import EXPECTED
from memflow.benchmarks.membench.generation.graph_sampling import sample_states
from memflow.benchmarks.membench.generation.trajectories import generate_probes, generate_turns
from memflow.benchmarks.membench.kinds import KINDS
from memflow.benchmarks.membench.load import read
from memflow.benchmarks.membench.question import build_question
from memflow.benchmarks.membench.scripted import HANDLERS
from memflow.benchmarks.membench.turns import scenario_of
from memflow.benchmarks.multiple_choice import Choice, number_of
from memflow.chat.asking import ask
from memflow.chat.requests import ChatMessage
from memflow.chat.scripted import ScriptedChat
from memflow.checks.evaluation import check_rows
from memflow.memories.memory import Recall
from memflow.metrics.intervals import mean_interval

KINDS_HERE = ("lowlevel_rec", "rec_multi_session", "highlevel", "highlevel_rec")
BY_NAME = {each.name: each for each in EXPECTED}
CHAT = ScriptedChat(HANDLERS)
SCENES = ("participation", "observation")


@cache
def made(scene: str, language: str) -> SimpleNamespace:
    """A domain of twenty lives, a trajectory of each kind and scenario."""
    parameters = {"graphs": 20, "scene": scene, "language": language, "kinds": KINDS_HERE}
    held = dataset(f"lives_{language}")
    records = read(held, {source: Path(str(files("memflow"))) / source for source in held.files})
    domain = Domain("made", "membench", (held.name,), "made", parameters)
    states = sample_states(domain, records)

    async def walk():
        turns = await generate_turns(domain, records, states, CHAT)
        return turns, await generate_probes(domain, records, states, turns, CHAT)

    turns, probes = asyncio.run(walk())
    return SimpleNamespace(domain=domain, states=states, turns=turns, probes=probes)


def failed(held: SimpleNamespace, **instead) -> list[str]:
    """The sentences that do not hold, with other rows in place of some."""
    tables = {
        "utterance.turns": instead.get("turns", held.turns),
        "question.probes": instead.get("probes", held.probes),
        "state.entities": instead.get("entities", held.states.entities),
    }
    outcomes = check_rows(
        "question.probes", tables["question.probes"], list(EXPECTED), tables.__getitem__, held.domain
    )
    return [outcome.name for outcome in outcomes if not outcome.passed]


everywhere = pytest.mark.parametrize(
    ("scene", "language"), [(scene, language) for scene in SCENES for language in ("en", "zh")]
)


@everywhere
def test_every_user_has_every_reflective_kind(scene, language):
    held = made(scene, language)
    assert [probe.reason for probe in held.probes if probe.reason] == []
    assert [turn.reason for turn in held.turns if turn.reason] == []
    asked = Counter((probe.category, scenario_of(probe.episode_id)) for probe in held.probes)
    wanted = [(name, scenario) for name in KINDS_HERE for scenario in KINDS[name].scenarios(scene)]
    assert asked == dict.fromkeys(wanted, 20)
    assert {probe.language for probe in held.probes} == {language}


@everywhere
def test_generated_rows_pass_checks(scene, language):
    assert failed(made(scene, language)) == []


@everywhere
def test_gold_positions_are_uniform(scene, language):
    held = made(scene, language)
    places = Counter(probe.gold for probe in held.probes)
    even = len(held.probes) / 4
    assert (
        sum((places[gold] - even) ** 2 / even for gold in "1234") < 16.27
    )  # chi-square, 3 degrees, p = 0.001
    for probe in held.probes:
        assert len(set(probe.options)) == 4 and probe.options[int(probe.gold) - 1] == probe.revealed


def test_corruption_fails_named_check():
    held = made("participation", "en")
    by_id = {turn.message_id: turn for turn in held.turns}

    def first(kind: str, scenario: str):
        return next(
            probe
            for probe in held.probes
            if probe.category == kind and scenario_of(probe.episode_id) == scenario
        )

    def with_turn(message: str, **changes):
        return [replace(turn, **changes) if turn.message_id == message else turn for turn in held.turns]

    named, alike = (
        "evidence_does_not_name_answer",
        "evidence_matches_gold_category_or_mood",
    )
    unsaid = "preference_evidence_contains_item"
    for kind, scenario in (("highlevel", "movie"), ("highlevel_rec", "book"), ("highlevel", "emotion")):
        probe = first(kind, scenario)
        told = probe.evidence[0]
        item = json.loads(by_id[told].exposes)["value"] if scenario != "emotion" else "It"
        naming = f"{item} is so {probe.revealed.upper()}! (place: Boston; time: now)"
        assert failed(held, turns=with_turn(told, text=naming)) == [named]
        # A place that is called so says nothing of it.
        harmless = f"{item} is it. (place: {probe.revealed}; time: now)"
        assert failed(held, turns=with_turn(told, text=harmless)) == []
        other = json.dumps({"entity": scenario, "attribute": "liked", "value": item, "category": "?"})
        assert failed(held, turns=with_turn(told, exposes=other)) == [alike]
        assert alike in failed(held, turns=with_turn(told, exposes=None))
        if scenario != "emotion":
            assert failed(held, turns=with_turn(told, text="That is it.")) == [unsaid]

    [self] = [row for row in held.states.entities if row.kind == "self"][:1]
    changed = replace(self, attributes=json.dumps({**json.loads(self.attributes), "movie": "Opera"}))
    entities = [changed if row is self else row for row in held.states.entities]
    assert failed(held, entities=entities) == ["preference_gold_in_user_graph"]

    probe = first("rec_multi_session", "multi_agent")
    lists = "recommendation_gold_complete"
    last = replace(probe, evidence=probe.evidence[:-1])
    assert failed(held, probes=[last if each is probe else each for each in held.probes]) == [lists]
    one, two = probe.evidence[:2]
    again = with_turn(two, exposes=by_id[one].exposes)
    assert failed(held, turns=again) == [lists]


def test_checks_skip_other_domains():
    held = made("participation", "en")
    published = SimpleNamespace(**{**vars(held), "domain": replace(held.domain, parameters={})})
    assert failed(published, turns=[]) == []


@cache
def accuracy(scene: str, language: str, shown: bool) -> dict[str, list[float]]:
    """Whether the scripted reader is right, by kind, or `mood`; with everything shown that was said, or nothing."""
    held = made(scene, language)

    async def right(probe) -> float:
        said = [turn for turn in held.turns if turn.episode_id == probe.episode_id] if shown else []
        recall = Recall(messages=tuple(ChatMessage(turn.role, turn.text) for turn in said))
        question = build_question(probe, recall, None)
        answer = await ask(CHAT, question.prompt, question.fields, recall.messages)
        assert isinstance(answer.value, Choice)
        return float(number_of(answer.value) == probe.gold)

    async def walk():
        return await asyncio.gather(*map(right, held.probes))

    found: dict[str, list[float]] = {}
    for probe, value in zip(held.probes, asyncio.run(walk()), strict=True):
        name = "mood" if scenario_of(probe.episode_id) == "emotion" else str(probe.category)
        found.setdefault(name, []).append(value)
    return found


def holds_chance(values: list[float]) -> bool:
    interval = mean_interval(values, [1] * len(values), seed=1)
    return interval.low is not None and interval.low <= 0.25 <= (interval.high or 0)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_scripted_reader_finds_shown_recommendations(language):
    found = accuracy("participation", language, True)
    for kind in ("lowlevel_rec", "rec_multi_session"):
        assert sum(found[kind]) / len(found[kind]) > 0.95


@everywhere
def test_scripted_reader_is_at_chance_without_context(scene, language):
    assert holds_chance([value for values in accuracy(scene, language, False).values() for value in values])


@everywhere
def test_scripted_reader_cannot_read_moods(scene, language):
    assert holds_chance(accuracy(scene, language, True)["mood"])
