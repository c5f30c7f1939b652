from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

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


ROWS: dict[str, Callable[[FeedbackRound], bool]] = {
    "third": lambda row: row.round == 2,
    "short": lambda row: row.satisfaction is not None and row.dataset == "sample_legal",
    "going_on": lambda row: row.critique is not None and not row.ended,
}


@pytest.mark.parametrize(
    ("at", "values", "name"),
    [
        ("going_on", {"reason": "no feedback"}, "failed_rounds_have_no_feedback"),
        ("going_on", {"critique": None}, "rounds_have_critique_unless_dialogue_ends"),
        ("short", {"copied": True}, "copied_answers_are_from_long_output_tasks"),
        ("short", {"felt": 11}, "noisy_satisfaction_between_1_and_10"),
        ("third", {"satisfaction": 5, "ended": True}, "third_answer_has_no_feedback"),
        ("going_on", {"ended": True}, "no_rounds_after_end_of_dialogue"),
        ("short", {"score": 0.5}, "only_metric_scored_cases_have_score"),
    ],
)
def test_corrupted_feedback_row_fails_a_check(demo: Any, at: str, values: dict[str, Any], name: str) -> None:
    place = next(place for place, row in enumerate(demo.feedback) if ROWS[at](row))
    rows = [*demo.feedback]
    rows[place] = replace(rows[place], **values)
    assert broken(demo, rows)[name] == "error"


def test_fourth_answer_to_a_case_fails_at_most_three_answers_check(demo: Any) -> None:
    last = next(row for row in demo.feedback if row.round == 2)
    assert "at_most_3_answers_per_dialogue" in broken(demo, [*demo.feedback, replace(last, round=3)])


def test_feedback_on_test_case_fails_training_cases_only_check(demo: Any) -> None:
    test = next(probe.probe_id for probe in demo.probes if probe.split == "test")
    row = replace(demo.feedback[0], case_id=test)
    assert "feedback_on_training_cases_only" in broken(demo, [row])


def test_feedback_with_more_likes_than_action_model_gives_warning(demo: Any) -> None:
    rows = [replace(row, liked=row.satisfaction is not None, disliked=False) for row in demo.feedback]
    assert broken(demo, rows) == {"action_rates_match_action_model": "warn"}
