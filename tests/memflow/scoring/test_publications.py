"""The history of published scores: which rows a publication adds."""

from dataclasses import replace

from factories import score
from hypothesis import given
from hypothesis import strategies as st

from memflow.scoring.publications import (
    SCORE_FIELDS,
    Publication,
    ScoreInputs,
    current_scores,
    key_of,
    rows_to_add,
)


def published(history, scores, verdicts="v1"):
    """Return the history after a publication of these scores."""
    inputs = {(row.domain, row.assistant): ScoreInputs(["p1", verdicts], ["large"]) for row in scores}
    return [*history, *rows_to_add(history, scores, inputs, Publication("2026-01-01T00:00:00+00:00", "r"))]


def test_publication_adds_only_scores_whose_values_differ():
    first = [score(assistant=name, metric="f1", value=0.5) for name in ("a", "b")]
    history = published([], first)
    assert [(row.publication, row.assistant) for row in history] == [(1, "a"), (1, "b")]
    assert published(history, first) == history
    changed = published(history, [first[0], replace(first[1], value=0.6)])
    assert [(row.publication, row.assistant, row.value) for row in changed[2:]] == [(2, "b", 0.6)]


def test_publication_adds_scores_whose_inputs_differ():
    scores = [score(assistant="a", metric="f1", value=0.5)]
    history = published(published([], scores), scores, verdicts="v2")
    assert [row.inputs for row in history] == [["p1", "v1"], ["p1", "v2"]]


def test_score_that_leaves_the_leaderboard_is_recorded_once_as_removed_without_a_value():
    history = published(published([], [score(assistant="a", metric="f1", value=0.5)]), [])
    assert [(row.removed, row.value) for row in history] == [(False, 0.5), (True, None)]
    assert published(history, []) == history
    assert current_scores(history) == {}


BOARDS = st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from([None, 0.0, 0.5, 1.0])), max_size=6)


@given(boards=BOARDS)
def test_newest_rows_of_the_history_always_equal_the_leaderboard(boards):
    history = []
    for board in boards:
        scores = [score(assistant=name, metric="f1", value=value) for name, value in board.items()]
        history = published(history, scores)
        newest = current_scores(history)
        assert newest.keys() == {key_of(row) for row in scores}
        for row in scores:
            assert all(getattr(newest[key_of(row)], name) == getattr(row, name) for name in SCORE_FIELDS)
    keys = [(row.publication, key_of(row)) for row in history]
    assert len(set(keys)) == len(keys)


def test_publication_names_the_judges_only_of_scores_that_they_decided():
    scores = [
        score(metric=metric, variant=variant)
        for metric, variant in (("f1", "standard"), ("quality[a]", "standard"), ("quality[a]", "judge_two"))
    ]
    inputs = {
        (row.domain, row.assistant): ScoreInputs([], ["one", "two"], frozenset({"quality"})) for row in scores
    }
    rows = rows_to_add([], scores, inputs, Publication("2026-01-01T00:00:00+00:00", "r"))
    assert [row.judge for row in rows] == [None, "one, two", "two"]
