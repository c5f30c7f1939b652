"""MemBench (ACL Findings 2025, arXiv 2506.21605): factual and reflective memory, in participation and observation.

One user's messages, with or without given assistant replies, form a trajectory; a question with four options
follows.
Metrics are accuracy, recall, capacity and efficiency. Each module's docstring states what it contains.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memflow.benchmarks.membench.benchmark import MemBench

__all__ = ["MemBench"]


def __getattr__(name: str) -> Any:
    """Import the benchmark's class on first use: its domains are listed by every command, its code is not needed."""
    if name != "MemBench":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memflow.benchmarks.membench.benchmark import MemBench  # noqa: PLC0415

    return MemBench
