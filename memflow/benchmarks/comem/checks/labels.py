"""The check that two models made the labels of question.keys."""

from collections.abc import Sequence

from memflow.checks.rules import Expectation, WholeTable
from memflow.records import GoldLabel


def labels_verified_by_annotator(labels: Sequence[GoldLabel]) -> list[int]:
    """Return the positions of labels that violate the check `verifier_is_not_the_annotator`."""
    first = {
        (label.question_id, label.checkpoint): label.model
        for label in labels
        if label.made_by == "annotator" and label.model is not None
    }
    return [
        at
        for at, label in enumerate(labels)
        if label.made_by == "verifier"
        and label.model is not None
        and first.get((label.question_id, label.checkpoint), label.model) == label.model
    ]


EXPECTED = (
    Expectation(
        "question.keys", "verifier_is_not_the_annotator", WholeTable(labels_verified_by_annotator), "warn"
    ),
)
"""The checks of question.keys."""
