"""The known errors of LongMemEval's data (known_errors.yaml): questions whose gold, evidence or wording is wrong.

The cleaned release repaired two more (ad7109d1, a3332713), which are not listed.
"""

from memflow.benchmarks.packaged import load_yaml

KNOWN_ERRORS = frozenset(map(str, load_yaml(__package__, "known_errors.yaml")))
"""The ids of the questions. The file has the kind of each error, who reported it, and what is wrong."""


def has_known_error(question_id: str, question: str = "") -> bool:
    """Return whether an error of a question's gold, evidence or wording is known."""
    return question_id in KNOWN_ERRORS
