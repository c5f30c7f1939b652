"""The checks of CoMem's rows: labels.py (question.keys), probes.py (question.probes), verdicts.py (score.verdicts)."""

from memflow.benchmarks.comem.checks import labels, probes, verdicts
from memflow.checks.rules import add_descriptions, of_benchmark

EXPECTED = add_descriptions(
    of_benchmark("comem", (*labels.EXPECTED, *probes.EXPECTED, *verdicts.EXPECTED)), __name__
)
"""CoMem's own checks."""
