"""The check of CoMem's rows: examiner.py recomputes rule-based labels from the messages."""

from memflow.benchmarks.comem.checks import examiner
from memflow.checks.rules import add_descriptions

EXPECTED = add_descriptions(examiner.EXPECTED, __name__)
"""CoMem's own checks."""
