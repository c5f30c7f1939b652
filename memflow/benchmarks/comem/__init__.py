"""CoMem (ACL ARR 2026 January, submission 2305): how a memory's answers change as a dialogue grows.

The same questions are asked after each quarter of a dialogue, and before it (checkpoint 0). Gold labels change over
checkpoints, and memories forget and learn. CoMem's own data are not public: its sources are read by sources/, and the
gold labels per checkpoint are made in annotation/.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memflow.benchmarks.comem.benchmark import CoMem

__all__ = ["CoMem"]


def __getattr__(name: str) -> Any:
    """Import the benchmark's class on first use, so that listing domains imports no benchmark code."""
    if name != "CoMem":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memflow.benchmarks.comem.benchmark import CoMem  # noqa: PLC0415

    return CoMem
