"""The question types of LongMemEval, and the names of metrics and slices. For speed, this module imports nothing."""

ACCURACY = "accuracy"
UNCLEAR = "unclear_label"
"""Metric: 1 if the judge's reply is neither `yes` nor `no`, apart from case and punctuation, else 0."""
TASK_AVERAGED = "task_averaged_accuracy"
ANSWERABLE, ABSTENTION, NO_ERRORS = "answerable", "abstention", "without known errors"
"""Slices of the questions."""

SINGLE_USER = "single-session-user"
SINGLE_ASSISTANT = "single-session-assistant"
SINGLE_PREFERENCE = "single-session-preference"
MULTI_SESSION = "multi-session"
TEMPORAL = "temporal-reasoning"
UPDATE = "knowledge-update"
TYPES = (SINGLE_USER, SINGLE_ASSISTANT, SINGLE_PREFERENCE, MULTI_SESSION, TEMPORAL, UPDATE)

_ABSTENTION = "_abs"


def is_abstention(question_id: str) -> bool:
    """Return whether a question has no answer in its history. The published code looks for the mark anywhere."""
    return _ABSTENTION in question_id
