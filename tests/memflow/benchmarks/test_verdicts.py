"""Verdicts and scores of multiple-choice replies: correct, wrong, unparsed and quarantined."""

from dataclasses import replace

import factories
import pytest

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.registry import find_domain
from memflow.benchmarks.verdicts import choice_verdicts
from memflow.errors import BadInput
from memflow.records import Probe, Reply, Score, Verdict

DOMAIN = find_domain("membench_memdaily")


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


def scores(probes: list[Probe], verdicts: list[Verdict]) -> dict[tuple[str, str], Score]:
    results = AssistantResults(
        DOMAIN.name, "m", "m", "scripted", probes, verdicts, [], [], "the data set", True
    )
    return {(row.metric, row.slice): row for row in MemBench().scores(DOMAIN, results)}


def test_choice_verdict_is_1_for_correct_0_for_wrong_and_null_for_missing_answer():
    probes = [probe(number) for number in range(4)]
    given = [
        reply(probes[0], "1"),
        reply(probes[1], "3"),
        reply(probes[2], None, "Perhaps Ann?", "it is not JSON"),
        reply(probes[3], None, None, "the endpoint refused it"),
    ]
    rows = {(row.probe_id[-4], row.metric): row for row in choice_verdicts(DOMAIN, probes, given)}
    assert [rows[str(number), "accuracy"].value for number in range(4)] == [1, 0, None, None]
    assert [rows[str(number), "unparsed"].value for number in range(4)] == [0, 0, 1, None]
    assert rows["2", "accuracy"].reason == "it is not JSON"
    assert rows["3", "unparsed"].reason == "the endpoint refused it"


def test_choice_verdict_of_quarantined_probe_or_missing_reply_has_reason():
    probes = [replace(probe(0), reason="its choices say [ERRORC]"), probe(1)]
    rows = choice_verdicts(DOMAIN, probes, [reply(probes[0], None)])
    assert all(row.value is None for row in rows)
    assert rows[0].reason == "the probe is quarantined: its choices say [ERRORC]"
    assert "has no reply" in (rows[2].reason or "")


def test_choice_verdicts_rejects_replies_of_several_assistants():
    probes = probe(0)
    with pytest.raises(BadInput, match="the replies come from"):
        choice_verdicts(DOMAIN, [probes], [reply(probes, "1"), replace(reply(probes, "1"), assistant="n")])


def test_accuracy_is_reported_per_level_category_and_scenario():
    kinds = [("simple", "roles"), ("simple", "events"), ("aggregative", "events")]
    kinds += [("highlevel", "movie"), ("highlevel", "emotion"), ("highlevel_rec", "movie")]
    probes = [probe(number, *kind) for number, kind in enumerate(kinds)]
    replies = [reply(each, "1" if at < 2 else "2") for at, each in enumerate(probes)]
    rows = scores(probes, choice_verdicts(DOMAIN, probes, replies))
    assert {part: (row.value, row.n) for (metric, part), row in rows.items() if metric == "accuracy"} == {
        "all": (pytest.approx(1 / 3), 6),
        "level factual": (pytest.approx(2 / 3), 3),
        "level reflective": (0.0, 3),
        "category simple": (1.0, 2),
        "category aggregative": (0.0, 1),
        "category highlevel": (0.0, 2),
        "category highlevel_rec": (0.0, 1),
        "category preference": (0.0, 2),
        "category emotion": (0.0, 1),
        "scenario roles": (1.0, 1),
        "scenario events": (0.5, 2),
        "scenario movie": (0.0, 2),
        "scenario emotion": (0.0, 1),
    }
    assert rows["random", "all"].value == 0.25
