from dataclasses import replace
from typing import Any

from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.memorybench.feedback import feedback
from memflow.chat.scripted import ScriptedChat
from memflow.checks.evaluation import check_rows
from memflow.checks.expectations import all_expectations
from memflow.checks.rules import Expectation
from memflow.records import FeedbackRound

Rows = list[FeedbackRound]
FEEDBACK: list[Expectation] = [each for each in all_expectations() if each.table == "feedback.sessions"]


def broken(demo: Any, rows: Rows) -> dict[str, str]:
    """What does not hold, and how bad that is."""
    tables = {"question.probes": demo.probes, "feedback.sessions": rows}
    found = check_rows("feedback.sessions", rows, FEEDBACK, tables.__getitem__, demo.domain)
    return {each.name: each.severity for each in found if not each.passed}


def test_feedback_of_demo_domain_passes_feedback_checks(demo: Any) -> None:
    assert broken(demo, demo.feedback) == {}


async def test_noisy_feedback_passes_checks_and_failed_feedback_gives_quarantine_warning(demo: Any) -> None:
    noisy = replace(demo, domain=replace(demo.domain, parameters={"noise": 1.2}))
    chat = ScriptedChat(MemoryBench().handlers())
    mute = ScriptedChat(MemoryBench().handlers() | {"memorybench/satisfaction": lambda _: "nothing"})
    rows = await feedback(noisy.domain, demo.turns, demo.probes, chat, chat)
    assert any(row.felt != row.satisfaction for row in rows)
    assert broken(noisy, rows) == {}
    rows = await feedback(noisy.domain, demo.turns, demo.probes, chat, mute)
    assert broken(noisy, rows) == {"at_most_10_percent_quarantined": "warn"}


def test_feedback_on_test_case_fails_training_cases_only_check(demo: Any) -> None:
    test = next(probe.probe_id for probe in demo.probes if probe.split == "test")
    row = replace(demo.feedback[0], case_id=test)
    assert "feedback_on_training_cases_only" in broken(demo, [row])
