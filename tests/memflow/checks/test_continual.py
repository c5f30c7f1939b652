"""The rule on checkpoint scores: consistent scores pass, and an inconsistent accuracy is found."""

from collections.abc import Callable
from dataclasses import replace

import factories
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memflow.checks.continual import EXPECTED
from memflow.checks.rules import WholeTable
from memflow.metrics.continual import summary
from memflow.records import Score

(BALANCED,) = (each.rule for each in EXPECTED)
assert isinstance(BALANCED, WholeTable)
SCORE = factories.score(assistant="rag", memory="rag", n=4, n_episodes=2)
WORKED = [[0, 1, 1, 1, 1], [1, 0, 0, 1, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 0, 1, 1]]


def scores_of(correct: object, opens: bool = True, **whose: str) -> list[Score]:
    """Return the scores of histories. The first column is a checkpoint if `opens`, else the no-context accuracy."""
    found, template = summary(np.asarray(correct)), replace(SCORE, **whose)
    first = 0 if opens else 1
    scores = [replace(template, metric="guess", variant="complete", value=found.accuracy[0])]
    for column in range(len(found.accuracy)):
        name = f"checkpoint {column - first}"
        if column >= first:
            scores.append(replace(template, variant="complete", slice=name, value=found.accuracy[column]))
        if column:
            scores += [
                replace(template, metric=metric, slice=name, value=getattr(found, metric)[column])
                for metric in ("forgetting", "forward_transfer", "backward_transfer")
            ]
    scores.append(replace(template, metric="forgetting", value=found.forgetting[-1]))
    scores += [
        replace(template, metric=metric, value=getattr(found, metric))
        for metric in ("all_correct", "all_wrong", "flip_rate")
    ]
    return scores


SHAPES = st.tuples(st.integers(1, 12), st.integers(2, 6))


@given(SHAPES.flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1))), st.booleans())
def test_scores_of_random_answers_pass_the_identity_check(correct: np.ndarray, opens: bool) -> None:
    scores = scores_of(correct, opens)
    assert list(BALANCED.find_violations(scores)) == []


def test_identity_check_compares_scores_of_same_assistant_and_domain_only() -> None:
    scores = [
        *scores_of(WORKED),
        *scores_of([[0, 1], [1, 1]], assistant="full"),
        *scores_of([[1, 0]], False, domain="e"),
    ]
    assert list(BALANCED.find_violations(scores)) == []
    # A floor of the same name is no part of a history, nor an accuracy of all that was answered.
    others = [replace(SCORE, metric="guess", value=0.9), replace(SCORE, slice="checkpoint 3", value=0.1)]
    assert list(BALANCED.find_violations([*scores, *others])) == []
    assert list(BALANCED.find_violations([replace(each, value=None) for each in scores])) == []


def place(scores: list[Score], metric: str, name: str) -> int:
    [found] = [at for at, each in enumerate(scores) if (each.metric, each.slice) == (metric, name)]
    return found


@pytest.mark.parametrize(
    ("metric", "name", "faults"),
    [
        ("accuracy", "checkpoint 2", ["checkpoint 2"]),
        ("accuracy", "checkpoint 0", ["checkpoint 0"]),
        ("forgetting", "checkpoint 4", ["checkpoint 4"]),
        ("forward_transfer", "checkpoint 3", ["checkpoint 3", "checkpoint 4"]),
        ("guess", "all", [f"checkpoint {at}" for at in range(5)]),
    ],
)
@pytest.mark.parametrize("damage", [lambda value: value + 0.01, lambda value: None])
def test_identity_check_finds_accuracy_that_contradicts_transfer_and_forgetting(
    metric: str, name: str, faults: list[str], damage: Callable[[float], float | None]
) -> None:
    scores = scores_of(WORKED)
    at = place(scores, metric, name)
    scores[at] = replace(scores[at], value=damage(scores[at].value or 0.0))
    lost = scores[at].value is None and metric == "accuracy"
    found = [scores[each].slice for each in BALANCED.find_violations(scores)]
    assert found == ([] if lost else faults)
