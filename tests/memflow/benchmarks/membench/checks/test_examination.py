"""Checks of golds by the examiner: they pass on the demo, and they name a wrong gold and what was not examined."""

from dataclasses import replace

import pytest
from membench_generation import Made, make

from memflow.benchmarks.membench.checks.examination import EXPECTED
from memflow.benchmarks.registry import find_domain
from memflow.checks.evaluation import RuleResult, check_rows
from memflow.records import Probe

GOLD, MOOD = "gold_equals_answer_recomputed_from_messages", "mood_not_predictable_from_question"
LOOK = "answer_not_predictable_from_options"


@pytest.fixture(scope="module", params=["membench_demo", "membench_demo_zh"])
def demo(request: pytest.FixtureRequest) -> Made:
    return make(find_domain(request.param))


def results(made: Made, probes: list[Probe]) -> dict[str, RuleResult]:
    tables = {"question.probes": probes, "utterance.turns": made.turns}
    found = check_rows("question.probes", probes, EXPECTED, tables.__getitem__, made.domain)
    return {each.name: each for each in found}


def test_examiner_reads_all_probes_of_the_demo_and_finds_no_fault(demo: Made) -> None:
    found = results(demo, demo.probes)
    assert set(found) == {GOLD, MOOD, LOOK}
    assert all(each.passed and each.severity == "error" for each in found.values())
    assert found[GOLD].note == "50 of 50 probes examined, 0 not examined"
    assert "of 2 moods predicted" in found[MOOD].note
    assert "of 50 answers predicted" in found[LOOK].note


def test_failed_check_names_probe_gold_recomputed_gold_and_message(demo: Made) -> None:
    probe = demo.probes[0]
    gold = int(probe.gold) % 4
    wrong = replace(probe, gold=str(gold + 1), revealed=probe.options[gold])
    found = results(demo, [wrong, *demo.probes[1:]])[GOLD]
    assert not found.passed and found.unexpected == 1
    [named] = found.offending
    for part in (probe.probe_id, probe.options[gold], probe.revealed, probe.evidence[0], "the gold is wrong"):
        assert part in named


def test_mood_check_fails_for_questions_that_reveal_the_mood(demo: Made) -> None:
    [mood, *_] = [probe for probe in demo.probes if "/emotion/" in probe.episode_id]
    named = [
        replace(mood, probe_id=f"p{number}", question=f"{answer}?", gold=str(at + 1), revealed=answer)
        for number in range(10)
        for at, answer in enumerate(mood.options)
    ]
    found = results(demo, named)[MOOD]
    assert not found.passed and found.unexpected == len(named)
    assert "100.0% of 40 moods predicted" in found.offending[0]


def test_option_check_fails_where_the_right_option_is_the_longest(demo: Made) -> None:
    planted = [
        replace(
            probe,
            options=[f"{probe.revealed}, as was said", *probe.options[1:]],
            gold="1",
            revealed=f"{probe.revealed}, as was said",
        )
        for probe in demo.probes
    ]
    found = results(demo, planted)[LOOK]
    assert not found.passed and found.unexpected == len(planted)
