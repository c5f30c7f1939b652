"""Checks of MemBench's rows. `memflow/checks` has the checks of all benchmarks."""

from memflow.benchmarks.membench.checks import generated, graphs, noise, reflective, rows
from memflow.checks.rules import of_benchmark

EXPECTED = of_benchmark(
    "membench",
    (*rows.EXPECTED, *noise.EXPECTED, *graphs.EXPECTED, *generated.EXPECTED, *reflective.EXPECTED),
)
"""All checks of MemBench."""
