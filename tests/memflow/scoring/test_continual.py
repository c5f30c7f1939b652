"""Figures of how answers change: means over questions, of episodes, with their reasons where there are none."""

from dataclasses import replace

import pytest

from memflow.records import Score
from memflow.scoring.continual import NO_NONE, CheckpointSums, continual_scores

FIGURE = Score(
    domain="d", assistant="a", memory="rag", model="m", metric="accuracy", n=4, n_episodes=2, coverage=1.0,
    simulator="s", scripted=False, value=0.5, deviation=0.1,
)  # fmt: skip


def row(episode: str, measure: str, checkpoint: int, total: float, **given: object) -> CheckpointSums:
    plain = CheckpointSums(
        assistant="a", episode_id=episode, measure=measure, checkpoint=checkpoint, borrowed=False, questions=4,
        complete=4, total=total, squares=total, low=0.0, high=1.0,
    )  # fmt: skip
    return replace(plain, **given)  # type: ignore[arg-type]


ROWS = [
    each
    for episode, right in (("e", (2.0, 3.0, 1.0)), ("f", (0.0, 2.0, 4.0)))
    for each in (
        *(row(episode, "accuracy", at, total) for at, total in enumerate(right)),
        row(episode, "forgetting", 1, 0.0),
        row(episode, "forgetting", 2, 2.0),
        row(episode, "all_correct", 2, 1.0),
        row(episode, "guess", 2, right[0]),
    )
]


def figures(rows: list[CheckpointSums], none: bool = True) -> dict[tuple[str, str, str], Score]:
    found = continual_scores(rows, FIGURE, 0, none=none)
    return {(each.metric, each.variant, each.slice): each for each in found}


def test_figures_are_means_over_questions_and_those_of_the_whole_are_of_the_last_checkpoint() -> None:
    found = figures(ROWS)
    assert {name: each.value for name, each in found.items()} == {
        ("accuracy", "complete", "checkpoint 0"): 0.25,
        ("accuracy", "complete", "checkpoint 1"): 0.625,
        ("accuracy", "complete", "checkpoint 2"): 0.625,
        ("forgetting", "standard", "checkpoint 1"): 0.0,
        ("forgetting", "standard", "checkpoint 2"): 0.5,
        ("forgetting", "standard", "all"): 0.5,
        ("all_correct", "standard", "all"): 0.25,
        ("guess", "complete", "all"): 0.25,
    }
    last = found["accuracy", "complete", "checkpoint 2"]
    assert (last.n, last.n_episodes, last.coverage, last.deviation) == (8, 2, 1.0, None)
    # By chance one episode is drawn twice: the ends are the episodes' own means.
    assert (last.low, last.high) == (0.25, 1.0)


def test_where_there_is_one_episode_its_questions_are_what_is_drawn() -> None:
    found = figures([each for each in ROWS if each.episode_id == "e"])
    last = found["accuracy", "complete", "checkpoint 1"]
    assert last.value == 0.75 and last.low is not None and last.high == 1.0
    assert 0 <= last.low < 0.75


def test_too_few_complete_histories_leave_no_figure_but_a_reason() -> None:
    found = figures([replace(each, complete=3) for each in ROWS if each.episode_id == "e"])
    shown = found["forgetting", "standard", "checkpoint 2"]
    assert (shown.value, shown.low, shown.n, shown.coverage) == (None, None, 3, 0.75)
    assert shown.reason is not None and shown.reason.startswith("3 of 4 questions have an answer at every")
    nothing = [replace(each, complete=0, total=0.0, low=None, high=None) for each in ROWS]
    assert all(each.value is None and each.n == 0 and each.reason for each in figures(nothing).values())


def test_histories_that_begin_with_the_memory_none_need_its_answers_of_today() -> None:
    borrowed = [replace(each, borrowed=True) for each in ROWS]
    assert {each.reason for each in figures(borrowed, none=False).values()} == {NO_NONE}
    assert figures(borrowed) == figures(ROWS) == figures(ROWS, none=False)


def test_one_checkpoint_has_no_flips_and_no_question_no_figure() -> None:
    found = figures([row("e", "flip_rate", 1, 0.0, low=None, high=None)])
    reason = found["flip_rate", "standard", "all"].reason
    assert reason == "there is one checkpoint only: no answer can change from one to the next"
    assert continual_scores([], FIGURE, 0, none=True) == []


def test_a_history_of_one_question_has_a_value_and_no_interval() -> None:
    [one] = [
        each
        for name, each in figures([row("e", "accuracy", 1, 1.0, questions=1, complete=1, low=1.0)]).items()
        if name[0] == "accuracy"
    ]
    assert (one.value, one.low, one.high) == (pytest.approx(1.0), None, None)
