"""Scores of change over checkpoints: means over questions, or a reason for a missing value."""

from dataclasses import replace

import pytest
from factories import metric_context

from memflow.metrics.intervals import Units, proportion_interval
from memflow.records import Score
from memflow.scoring.continual import NO_NONE, ONE_CHECKPOINT, CheckpointSums, continual_scores


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


def scores(rows: list[CheckpointSums], none: bool = True) -> dict[tuple[str, str, str], Score]:
    found = continual_scores(rows, metric_context(memory="rag"), none=none)
    return {(each.metric, each.variant, each.slice): each for each in found}


def test_overall_forgetting_equals_forgetting_at_the_last_checkpoint() -> None:
    found = scores(ROWS)
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
    assert (last.low, last.high, last.interval_reason) == (None, None, "2 episodes")


def test_scores_of_three_episodes_have_the_interval_of_a_proportion() -> None:
    third = [replace(each, episode_id="g") for each in ROWS if each.episode_id == "e"]
    last = scores([*ROWS, *third])["accuracy", "complete", "checkpoint 1"]
    units = Units.of_episodes([3, 2, 3], [4, 4, 4])
    assert (last.low, last.high) == pytest.approx(proportion_interval(units)[1:3])
    assert (last.interval_reason, last.interval_units) == (None, "episodes")


def test_episodes_with_fewer_checkpoints_lower_the_coverage_of_every_checkpoint() -> None:
    short = [row("e", "accuracy", 0, 0.0, complete=0), row("e", "forgetting", 1, 0.0, complete=0)]
    found = scores([*short, *(each for each in ROWS if each.episode_id == "f")])
    assert {each.coverage for each in found.values()} == {0.5}
    assert all(each.value is None for each in found.values())


def test_score_with_low_coverage_has_a_reason_and_no_value() -> None:
    found = scores([replace(each, complete=3) for each in ROWS if each.episode_id == "e"])
    shown = found["forgetting", "standard", "checkpoint 2"]
    assert (shown.value, shown.low, shown.n, shown.coverage) == (None, None, 3, 0.75)
    assert shown.reason is not None and shown.reason.startswith("3 of 4 questions have a value")
    nothing = [replace(each, complete=0, total=0.0, low=None, high=None) for each in ROWS]
    assert all(each.value is None and each.n == 0 and each.reason for each in scores(nothing).values())


def test_history_that_begins_with_memory_none_has_no_scores_without_memory_none() -> None:
    borrowed = [replace(each, borrowed=True) for each in ROWS]
    assert {each.reason for each in scores(borrowed, none=False).values()} == {NO_NONE}
    assert scores(borrowed) == scores(ROWS) == scores(ROWS, none=False)


def test_history_with_a_single_checkpoint_has_no_flip_rate() -> None:
    found = scores([row("e", "flip_rate", 1, 0.0, low=None, high=None)])
    assert found["flip_rate", "standard", "all"].reason == ONE_CHECKPOINT
    assert continual_scores([], metric_context(), none=True) == []
