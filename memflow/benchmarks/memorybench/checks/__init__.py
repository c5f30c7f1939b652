"""Checks of MemoryBench's rows. `memflow/checks` has the checks of all benchmarks."""

from memflow.benchmarks.memorybench.checks import feedback, memory

EXPECTED = (*feedback.EXPECTED, *memory.EXPECTED)
"""All checks of MemoryBench."""
