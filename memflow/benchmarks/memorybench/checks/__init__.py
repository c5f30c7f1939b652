"""Checks of MemoryBench's rows. Checks of all benchmarks are in `memflow/checks`."""

from memflow.benchmarks.memorybench.checks import feedback, memory

EXPECTED = (*feedback.EXPECTED, *memory.EXPECTED)
"""All checks of MemoryBench."""
