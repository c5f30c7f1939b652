"""The known errors of BEAM's gold (known_errors.yaml): its answer, rubric and dates contradict each other."""

from memflow.benchmarks.packaged import load_yaml

KNOWN_ERRORS = frozenset(map(str, load_yaml(__package__, "known_errors.yaml")))
"""The probe ids. The file has the kind of each error and what is wrong."""


def has_known_error(probe_id: str) -> bool:
    """Return whether an error of a question's gold is known."""
    return probe_id in KNOWN_ERRORS
