from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.memorybench.checks import EXPECTED
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


def changed(rows: Rows, at: Callable[[FeedbackRound], bool], **values: Any) -> Rows:
    """The rows, the first one that is meant changed."""
    place = next(place for place, row in enumerate(rows) if at(row))
    return [*rows[:place], replace(rows[place], **values), *rows[place + 1 :]]


def test_what_the_demo_gathers_is_as_it_should_be(demo: Any) -> None:
    assert broken(demo, demo.feedback) == {}


async def test_with_noise_and_a_failing_simulator_it_is_so_too(demo: Any) -> None:
    noisy = replace(demo, domain=replace(demo.domain, parameters={"noise": 1.2}))
    chat = ScriptedChat(MemoryBench().handlers())
    mute = ScriptedChat(MemoryBench().handlers() | {"memorybench/satisfaction": lambda _: "nothing"})
    rows = await feedback(noisy.domain, demo.turns, demo.probes, chat, chat)
    assert any(row.felt != row.satisfaction for row in rows)
    assert broken(noisy, rows) == {}
    rows = await feedback(noisy.domain, demo.turns, demo.probes, chat, mute)
    assert broken(noisy, rows) == {"at_most_10_percent_quarantined": "warn"}


def third(row: FeedbackRound) -> bool:
    return row.round == 2


def short(row: FeedbackRound) -> bool:
    return row.satisfaction is not None and row.dataset == "sample_legal"


def going_on(row: FeedbackRound) -> bool:
    return row.critique is not None and not row.ended


@pytest.mark.parametrize(
    ("at", "values", "name"),
    [
        (going_on, {"reason": "no feedback"}, "failures_are_no_satisfied_users"),
        (going_on, {"critique": None}, "users_who_go_on_say_something"),
        (short, {"copied": True}, "short_answers_are_not_copied"),
        (short, {"felt": 11}, "noise_stays_on_the_scale"),
        (third, {"satisfaction": 5, "ended": True}, "the_last_of_three_answers_has_no_feedback"),
        (going_on, {"ended": True}, "nothing_is_said_after_the_end"),
        (short, {"score": 0.5}, "scores_are_of_cases_that_a_metric_settles"),
    ],
)
def test_a_damaged_row_is_found(
    demo: Any, at: Callable[[FeedbackRound], bool], values: dict[str, Any], name: str
) -> None:
    assert broken(demo, changed(demo.feedback, at, **values))[name] == "error"


def test_a_fourth_answer_is_found(demo: Any) -> None:
    last = next(row for row in demo.feedback if row.round == 2)
    assert "dialogues_have_three_answers_at_most" in broken(demo, [*demo.feedback, replace(last, round=3)])


def test_feedback_on_a_test_case_is_found(demo: Any) -> None:
    test = next(probe.probe_id for probe in demo.probes if probe.split == "test")
    row = replace(demo.feedback[0], case_id=test)
    assert "feedback_is_on_training_cases" in broken(demo, [row])


def test_users_who_all_press_like_are_noticed(demo: Any) -> None:
    rows = [replace(row, liked=row.satisfaction is not None, disliked=False) for row in demo.feedback]
    assert broken(demo, rows) == {"users_press_as_often_as_they_should": "warn"}


def test_satisfaction_that_no_rate_fits_is_noticed(demo: Any) -> None:
    eager = replace(demo.domain, parameters={"actions": {"like_rate": 0.9, "dislike_rate": 0.1}})
    assert "likes_and_dislikes_are_possible_at_their_rates" in broken(
        replace(demo, domain=eager), demo.feedback
    )


def test_each_of_its_sentences_is_among_all() -> None:
    assert {each.name for each in EXPECTED} < {each.name for each in FEEDBACK}
