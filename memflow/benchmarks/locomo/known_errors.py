"""The known errors of LoCoMo's answer key (known_errors.yaml): which questions, and the kind of error.

An independent audit found 156 errors. In 57 the gold answer is right and only the cited evidence is wrong; the other 99
change the score of a right answer. An error applies only to a question with the audited text.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256

from memflow.benchmarks.packaged import load_yaml
from memflow.records import Probe

WRONG_CITATION = "wrong_citation"
"""The only kind of error that does not change scores."""
_DIGITS = 8


@cache
def known_errors() -> Mapping[str, tuple[str, str]]:
    """Return the kind of each error and the digits of its question's SHA-256, by probe id."""
    return {
        f"{conversation}/q{number}": (kind, question)
        for conversation, errors in load_yaml(__package__, "known_errors.yaml").items()
        for number, (kind, question) in errors.items()
    }


def known_error(probe_id: str, question: str) -> str | None:
    """Return the kind of the known error of a question's key, or None if no error is known."""
    kind, digits = known_errors().get(probe_id, (None, ""))
    return kind if kind and sha256(question.encode()).hexdigest()[:_DIGITS] == digits else None


def has_wrong_gold(probe_id: str, question: str) -> bool:
    """Return whether the gold answer of a question is known to be wrong, so that a right answer may lose its score."""
    return known_error(probe_id, question) not in (None, WRONG_CITATION)


def without_wrong_gold(probes: Iterable[Probe]) -> list[Probe]:
    """Return the probes whose gold answer has no known error."""
    return [probe for probe in probes if not has_wrong_gold(probe.probe_id, probe.question)]
