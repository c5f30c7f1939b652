"""Checks of golds by the examiner: they pass on the demo, and they name a wrong gold and what was not examined."""

from dataclasses import replace

import pytest
from membench_generation import Made, make

from memflow.benchmarks.membench.checks import EXPECTED
from memflow.benchmarks.registry import find_domain
from memflow.checks.evaluation import RuleResult, check_rows
from memflow.records import Probe

GOLD = "gold_equals_answer_recomputed_from_messages"


@pytest.fixture(scope="module", params=["membench_demo", "membench_demo_zh"])
def demo(request: pytest.FixtureRequest) -> Made:
    return make(find_domain(request.param))


def results(made: Made, probes: list[Probe]) -> dict[str, RuleResult]:
    tables = {"question.probes": probes, "utterance.turns": made.turns}
    found = check_rows("question.probes", probes, EXPECTED, tables.__getitem__, made.domain)
    return {each.name: each for each in found}


def test_examiner_reads_all_probes_of_the_demo_and_finds_no_fault(demo: Made) -> None:
    found = results(demo, demo.probes)
    assert found[GOLD].passed and found[GOLD].severity == "error"
    assert found[GOLD].note == "50 of 50 probes examined, 0 not examined"


def test_failed_check_names_probe_gold_recomputed_gold_and_message(demo: Made) -> None:
    probe = demo.probes[0]
    gold = int(probe.gold) % 4
    wrong = replace(probe, gold=str(gold + 1), revealed=probe.options[gold])
    found = results(demo, [wrong, *demo.probes[1:]])[GOLD]
    assert not found.passed and found.unexpected == 1
    [named] = found.offending
    for part in (probe.probe_id, probe.options[gold], probe.revealed, probe.evidence[0], "the gold is wrong"):
        assert part in named
