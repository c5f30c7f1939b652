"""Errors that are true of another speaker: hand-computed values, and a memory that confuses speakers."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import factories
import pytest

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.comem.checks.probes import EXPECTED
from memflow.benchmarks.comem.speakers import BY_CHANCE, OTHER_SPEAKER, RATE
from memflow.benchmarks.domains import Domain
from memflow.chat.scripted import ScriptedChat
from memflow.checks.evaluation import check_rows
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Record, Reply, Score, Verdict

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


def test_speaker_checks_pass_on_demo_and_fail_on_corrupted_probes(
    build: Callable[..., Any], demo: Domain, records: list[Record]
):
    turns, _, probes = build(demo, records)
    expected = [each for each in EXPECTED if "speaker" in each.name]

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

    assert failing(true_of=[*good.true_of[:-1], "Mira"]) == ["unknown_option_has_no_speaker"]
    assert failing(true_of=["Zoe", *good.true_of[1:]]) == ["option_speakers_in_episode"]
