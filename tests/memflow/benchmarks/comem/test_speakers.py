"""Errors that are true of another speaker: hand-computed values, and a memory that confuses speakers."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import factories
import pytest

from memflow.benchmarks.api import AssistantResults, States
from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.comem.checks.probes import EXPECTED
from memflow.benchmarks.comem.speakers import BY_CHANCE, OTHER_SPEAKER, RATE
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_dataset
from memflow.chat.scripted import ScriptedChat
from memflow.checks.evaluation import check_rows
from memflow.memories.baselines import Full
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Message, Tools
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Record, Reply, Score, Verdict
from memflow.run.answer import answer_all
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows

NAMES = ("Ann", "Ben", "Cem", "Dot")
PETS = ("parrot", "tortoise", "ferret", "hamster")


@pytest.fixture
def house(build: Callable[..., Any], demo: Domain, records: list[Record]) -> dict[str, Probe]:
    """Return the probes of the demo's context `house`, by question and checkpoint."""
    probes = build(demo, records).probes
    return {probe.probe_id.removeprefix("house/"): probe for probe in probes if probe.episode_id == "house"}


def replied(probe: Probe, parsed: str | None) -> Reply:
    reason = None if parsed else "no letter"
    return factories.reply(probe_id=probe.probe_id, text="{}", parsed=parsed, reason=reason)


async def judged(
    bench: CoMem, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply]
) -> tuple[list[Verdict], dict[tuple[str, str], Score]]:
    verdicts = await bench.verdicts(domain, probes, replies, MetricBackends(ScriptedChat({})))
    measured = AssistantResults(
        domain.name, "full", "full", "scripted", probes, verdicts, [], [], "scripted", True
    )
    figures = {(row.metric, row.slice): row for row in bench.scores(domain, measured)}
    return [row for row in verdicts if row.metric == OTHER_SPEAKER], figures


async def test_errors_are_classified_as_true_of_other_speaker_or_same_speaker(
    bench: CoMem, demo: Domain, house: dict[str, Probe]
):
    # Jon drives a tram (2) by checkpoint 4; the bakery (1) was his, the library (3) is Paul's, the garden Sade's.
    given = {
        "jonwork/c4": "1",
        "mirawork/c4": "3",
        "mplay/c4": "4",  # the flute is nobody's
        "pplay/c4": "5",  # there is no telling
        "nuts/c4": "4",  # right
        "lyon/c4": "2",
        "lyon/c3": "1",  # Sade has not said it yet: there is no right speaker
        "nuts/c3": None,  # could not be read
    }
    probes = [house[name] for name in given]
    rows, figures = await judged(
        bench, demo, probes, [replied(house[name], parsed) for name, parsed in given.items()]
    )
    assert {row.probe_id: row.value for row in rows} == {
        "house/jonwork/c4": 0.0,
        "house/mirawork/c4": 1.0,
        "house/lyon/c4": 1.0,
    }
    last = figures[OTHER_SPEAKER, "checkpoint 4"]
    assert (last.value, last.n, last.coverage) == (pytest.approx(2 / 3), 3, 1.0)
    # Of the wrong options that are somebody's: 2 of Jon's 3, all 3 of Mira's, all 3 of who moves out.
    assert figures[BY_CHANCE, "checkpoint 4"].value == pytest.approx((2 / 3 + 1 + 1) / 3)
    # Six answers to questions that have a right speaker, two of them true of somebody else.
    rate = figures[RATE, "checkpoint 4"]
    assert (rate.value, rate.n, rate.coverage) == (pytest.approx(2 / 6), 6, 1.0)
    third = figures[OTHER_SPEAKER, "checkpoint 3"]
    assert (third.value, third.n, third.coverage) == (None, 0, 0.0)
    assert third.reason is not None and third.reason.startswith("0 of 1 probes have a value")


class MixedUp(Full):
    """A memory that attributes each message to the previous speaker in NAMES."""

    async def write(self, messages: Sequence[Message]) -> None:
        await super().write(
            [replace(each, speaker=NAMES[NAMES.index(each.speaker or "") - 1]) for each in messages]
        )


async def test_errors_of_memory_that_confuses_speakers_are_other_speaker_errors(
    bench: CoMem, build: Callable[..., Any], tmp_path: Path
):
    pets = [
        {
            "id": "pets",
            "messages": [
                {"speaker": name, "text": f"I keep a {pet}."} for name, pet in zip(NAMES, PETS, strict=True)
            ],
            "questions": [
                {
                    "id": pet,
                    "question": f"Who keeps a {pet}?",
                    "options": [*NAMES, "I don't know."],
                    "true_of": [*NAMES, ""],
                    "known": [{"after": at, "option": at, "evidence": [at]}],
                }
                for at, pet in enumerate(PETS, start=1)
            ],
        }
    ]
    (tmp_path / "pets.json").write_text(json.dumps(pets))
    domain = Domain("pets", "comem", ("comem_sample",), "", {"keys": "rule"})
    records = bench.records(find_dataset("comem_sample"), {"pets.json": tmp_path / "pets.json"})
    turns, _, probes = await asyncio.to_thread(build, domain, records)
    chat = ScriptedChat(bench.handlers())

    async def measured(memory: type[Full]) -> dict[tuple[str, str], Score]:
        def make(store: EntryStore) -> Full:
            return memory(store, Tools(embedder=HashingEmbedder()))

        played = await play_all(bench.episodes(domain, States(), turns, [], chat), make, None)
        pasts = episode_histories(
            entry_rows(domain.name, "full", played), transcript_rows(domain.name, "full", played), probes
        )
        replies = await answer_all(bench, domain, "full", probes, pasts, make, chat)
        _, figures = await judged(bench, domain, probes, replies)
        return figures

    sound, mixed = await measured(Full), await measured(MixedUp)
    # One pet is known of at checkpoint 1, two at 2, and so on: ten answers. To the other six questions there is no
    # telling yet; the scripted chat names somebody all the same, but there is no right speaker to mix up.
    assert sound["accuracy", "all"].value == pytest.approx(10 / 16) and sound[OTHER_SPEAKER, "all"].n == 0
    assert mixed["accuracy", "all"].value == 0.0
    shares = {name: figure for (metric, name), figure in mixed.items() if metric == OTHER_SPEAKER}
    assert [shares[f"checkpoint {at}"].n for at in range(5)] == [0, 1, 2, 3, 4]
    assert (shares["all"].value, shares["all"].n) == (1.0, 10)
    assert mixed[BY_CHANCE, "all"].value == 1.0
    assert (mixed[RATE, "all"].value, mixed[RATE, "all"].n) == (1.0, 10)
    assert (sound[RATE, "all"].value, sound[RATE, "all"].n) == (0.0, 10)


def test_speaker_checks_pass_on_demo_and_fail_on_corrupted_probes(
    build: Callable[..., Any], demo: Domain, records: list[Record]
):
    turns, _, probes = build(demo, records)
    expected = [each for each in EXPECTED if "speaker" in each.name or "true_of" in each.name]

    def held(damaged: Sequence[Probe]) -> dict[str, bool]:
        tables = {"question.probes": damaged, "utterance.turns": turns}
        outcomes = check_rows("question.probes", damaged, expected, tables.__getitem__, demo)
        return {outcome.name: outcome.passed for outcome in outcomes}

    assert all(held(probes).values())
    at = next(place for place, probe in enumerate(probes) if probe.true_of)
    good = probes[at]

    def failing(**changed: list[str]) -> list[str]:
        damaged = [*probes[:at], replace(good, **changed), *probes[at + 1 :]]
        return [name for name, fine in held(damaged).items() if not fine]

    assert failing(true_of=good.true_of[1:]) == ["true_of_has_one_item_per_option"]
    assert failing(true_of=[*good.true_of[:-1], "Mira"]) == ["unknown_option_has_no_speaker"]
    assert failing(true_of=["Zoe", *good.true_of[1:]]) == ["option_speakers_in_episode"]
