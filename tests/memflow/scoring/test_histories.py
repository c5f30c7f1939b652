"""Score histories over checkpoints: their order, floors and exported rows."""

from dataclasses import replace

from checkpoint_scores import leaderboard_rows

from memflow.scoring.histories import histories

# Checkpoints 0 to 2, by question: forgotten at 2, learnt at 1, never right, right throughout.
ANSWERS = [[1, 1, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1]]


def only(rows, **given):
    [history] = histories(rows, **given)["d"]
    return history


def test_score_history_starts_with_no_context_accuracy_and_satisfies_the_identity() -> None:
    history = only(leaderboard_rows({"full": ANSWERS}))
    assert history.checkpoints == (1, 2)
    accuracies = [history.accuracy(at) for at in (None, 1, 2)]
    assert [each.value for each in accuracies if each] == [0.5, 0.75, 0.5]
    learnt = [history.score("forward_transfer", at).value for at in history.checkpoints]
    lost = [history.score("forgetting", at).value for at in history.checkpoints]
    assert (learnt, lost) == ([0.25, 0.0], [0.0, 0.25])
    assert [0.5 + sum(learnt[: at + 1]) - lost[at] for at in (0, 1)] == [0.75, 0.5]
    assert history.score("all_correct").value == 0.5 and history.score("all_wrong").value == 0.25


def test_score_history_uses_only_the_accuracy_of_complete_questions() -> None:
    rows = [
        row
        for row in leaderboard_rows({"full": ANSWERS})
        if (row.metric, row.variant, row.slice) != ("accuracy", "complete", "checkpoint 1")
    ]
    assert only(rows).accuracy(1) is None and only(rows).accuracy(2) is not None


def test_score_history_may_begin_with_an_answer_before_the_first_checkpoint() -> None:
    periods = leaderboard_rows({"full": ANSWERS}, first=-1)
    history = only([row for row in periods if row.slice != "checkpoint -1"])
    assert history.checkpoints == (0, 1) and history.accuracy(None).value == 0.5
    assert history.floor("constant", None) is None and history.floor("constant", 0) == 0.3


def test_at_floor_is_true_if_accuracy_interval_includes_chance_or_constant_answer_accuracy() -> None:
    history = only(leaderboard_rows({"full": ANSWERS}))
    assert [history.at_floor(at) for at in (None, 1, 2)] == [False, False, True]  # .4, .65, .4 and up
    wide = only(leaderboard_rows({"full": ANSWERS}, half=0.2))
    assert [wide.at_floor(at) for at in (None, 1, 2)] == [True, False, True]  # .3 is the constant answer's
    without = [replace(row, low=None, high=None) for row in leaderboard_rows({"full": ANSWERS})]
    assert not only(without).at_floor(2)


def test_score_history_exports_one_row_per_metric_and_checkpoint() -> None:
    rows = only(leaderboard_rows({"full": ANSWERS})).plain()
    assert [(row["metric"], row["checkpoint"], row["value"]) for row in rows[:3]] == [
        ("accuracy", "start", 0.5),
        ("accuracy", "1", 0.75),
        ("accuracy", "2", 0.5),
    ]
    by_metric = {row["metric"]: [] for row in rows}
    for row in rows:
        by_metric[row["metric"]].append(row["checkpoint"])
    assert by_metric["backward_transfer"] == ["1", "2"] and by_metric["flip_rate"] == ["all"]
    assert by_metric["constant"] == by_metric["random"] == ["1", "2"]
    assert rows[0]["n"] == 4 and rows[0]["episodes"] == 5
