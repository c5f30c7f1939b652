"""Checks of MemBench's rows. `memflow/checks` has the checks of all benchmarks."""

from memflow.benchmarks.membench.checks import examination, noise, rows
from memflow.checks.rules import add_descriptions

EXPECTED = add_descriptions(
    (*rows.EXPECTED, *noise.EXPECTED, *examination.EXPECTED),
    __name__,
)
"""All checks of MemBench."""
