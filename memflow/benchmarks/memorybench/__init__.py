"""MemoryBench (arXiv 2510.17281): continual learning of assistants from user feedback.

A backbone answers training cases and simulated users give feedback. These dialogues go into memory, with a corpus
if the
data set has one; then test cases are asked. The parameter `protocol` selects off-policy, stepwise or on-policy
learning.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memflow.benchmarks.memorybench.benchmark import MemoryBench

__all__ = ["MemoryBench"]


def __getattr__(name: str) -> Any:
    """Import the benchmark's class on first use: its domains are listed by every command, its code is not needed."""
    if name != "MemoryBench":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memflow.benchmarks.memorybench.benchmark import MemoryBench  # noqa: PLC0415

    return MemoryBench
