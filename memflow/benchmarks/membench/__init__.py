"""MemBench (ACL Findings 2025, arXiv 2506.21605): factual and reflective memory, taking part and observing.

A trajectory is what one user says, with an assistant's given replies or without; then a question with four options is
asked of it. Beside accuracy it measures recall, capacity and efficiency.

    kinds.py, parameters.py     the kinds of questions, their levels and scenarios; what a domain may settle
    records.py, published/      files -> raw records -> trajectories; how each published form is read
    selection.py                which published trajectories a domain takes
    generated.py, generation/   trajectories made from users' lives
    trajectories.py             trajectories -> turns and probes
    noise/                      noise woven in between, until a trajectory has its length
    question.py                 how a probe is put
    figures.py                  verdicts -> figures, slice by slice
    capacity.py                 asked after every step, and what accuracy over tokens comes to
    tables.py, reference.py     the paper's tables, and the figures that it has in them
    plots.py, pictures.py       what is drawn: accuracy over tokens, and all else
    expectations/               what must hold of the rows
    scripted.py                 handlers of the scripted chat
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
