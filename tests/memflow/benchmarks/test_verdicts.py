"""Replies to verdicts and figures: what is right, what could not be read, and what no figure rests on."""

from dataclasses import replace

import factories
import pytest

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import find
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.verdicts import choice_verdicts
from memflow.errors import BadInput
from memflow.records import Probe, Reply, Score, Verdict

DOMAIN = find("membench_memdaily")


def probe(number: int, category: str = "simple", scenario: str = "roles", gold: int = 1) -> Probe:
    episode = f"observation/{category}/{scenario}/{number}"
    return factories.probe(
        domain=DOMAIN.name, probe_id=f"{episode}/q0", episode_id=episode, dataset="memdaily", category=category,
        options=["Ann", "Bob", "Cem", "Dee"], gold=str(gold),
    )  # fmt: skip


def reply(to: Probe, parsed: str | None, text: str | None = "said", reason: str | None = None) -> Reply:
    return factories.reply(
        domain=to.domain, assistant="m", probe_id=to.probe_id, episode_id=to.episode_id, text=text, parsed=parsed,
        reason=reason,
    )  # fmt: skip


def figures(probes: list[Probe], verdicts: list[Verdict]) -> dict[tuple[str, str], Score]:
    measured = AssistantResults(
        domain=DOMAIN.name,
        assistant="m",
        memory="m",
        model="scripted",
        probes=probes,
        verdicts=verdicts,
        oracle=[],
        none=[],
        simulator="the data set",
        scripted=True,
    )
    return {(row.metric, row.slice): row for row in MemBench().scores(DOMAIN, measured)}


def test_answers_are_right_wrong_or_null():
    asked = [probe(number) for number in range(4)]
    given = [
        reply(asked[0], "1"),
        reply(asked[1], "3"),
        reply(asked[2], None, "Perhaps Ann?", "it is not JSON"),
        reply(asked[3], None, None, "the endpoint refused it"),
    ]
    rows = {(row.probe_id[-4], row.metric): row for row in choice_verdicts(DOMAIN, asked, given)}
    assert [rows[str(number), "accuracy"].value for number in range(4)] == [1, 0, None, None]
    assert [rows[str(number), "unparsed"].value for number in range(4)] == [0, 0, 1, None]
    assert rows["2", "accuracy"].reason == "it is not JSON"
    assert rows["3", "unparsed"].reason == "the endpoint refused it"


def test_unasked_probe_has_reason():
    asked = [replace(probe(0), reason="its choices say [ERRORC]"), probe(1)]
    rows = choice_verdicts(DOMAIN, asked, [reply(asked[0], None)])
    assert all(row.value is None for row in rows)
    assert rows[0].reason == "the probe is quarantined: its choices say [ERRORC]"
    assert "has no reply" in (rows[2].reason or "")


def test_replies_of_several_assistants_are_rejected():
    asked = probe(0)
    with pytest.raises(BadInput, match="replies of one assistant"):
        choice_verdicts(DOMAIN, [asked], [reply(asked, "1"), replace(reply(asked, "1"), assistant="n")])


def test_figures_are_given_by_level_kind_and_scenario():
    asked = [
        probe(0),
        probe(1, scenario="events"),
        probe(2, "aggregative", "events"),
        probe(3, "highlevel", "movie"),
    ]
    rows = figures(
        asked,
        choice_verdicts(DOMAIN, asked, [reply(one, "1" if at < 2 else "2") for at, one in enumerate(asked)]),
    )
    assert {part: (row.value, row.n) for (metric, part), row in rows.items() if metric == "accuracy"} == {
        "all": (0.5, 4),
        "level factual": (pytest.approx(2 / 3), 3),
        "level reflective": (0.0, 1),
        "category simple": (1.0, 2),
        "category aggregative": (0.0, 1),
        "category highlevel": (0.0, 1),
        "scenario roles": (1.0, 1),
        "scenario events": (0.5, 2),
        "scenario movie": (0.0, 1),
        "category preference": (0.0, 1),
    }
    assert rows["random", "all"].value == 0.25


def test_a_figure_needs_nine_verdicts_in_ten_of_what_was_to_be_asked():
    asked = [probe(number) for number in range(10)]
    given = [reply(one, "1") for one in asked[:8]]
    short = figures(asked, choice_verdicts(DOMAIN, asked, given))["accuracy", "all"]
    assert short.value is None
    assert (short.reason or "").startswith("8 of 10 probes have a value; a score needs 90%")
    sound = [replace(one, reason="no") if at > 7 else one for at, one in enumerate(asked)]
    assert figures(sound, choice_verdicts(DOMAIN, sound, given))["accuracy", "all"].value == 1.0
