"""The checks of CoMem's rows: labels.py (question.keys), probes.py (question.probes), verdicts.py (score.verdicts).

examiner.py recomputes rule-based labels from the messages.
"""

from memflow.benchmarks.comem.checks import examiner, labels, probes, verdicts
from memflow.checks.rules import add_descriptions

EXPECTED = add_descriptions(
    (*labels.EXPECTED, *probes.EXPECTED, *examiner.EXPECTED, *verdicts.EXPECTED), __name__
)
"""CoMem's own checks."""
