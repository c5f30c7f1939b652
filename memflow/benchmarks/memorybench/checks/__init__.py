"""Checks of MemoryBench's rows. `memflow/checks` has the checks of all benchmarks."""

from memflow.benchmarks.memorybench.checks import feedback, memory
from memflow.checks.rules import add_descriptions

EXPECTED = add_descriptions((*feedback.EXPECTED, *memory.EXPECTED), __name__)
"""All checks of MemoryBench."""
