"""CoMem (ACL ARR 2026 January, submission 2305): how a memory's answers change as a dialogue grows.

The same questions are asked after each quarter of a dialogue, and before it. What is right may change; so may what a
memory gets right: it forgets, learns, and wavers. CoMem's own data are not public: contexts come from its sources, and
their keys are made here.

    parameters.py        what a domain may settle
    records.py, sources/ files -> raw records -> contexts; how each form is read
    contexts.py          a dialogue and what is asked of it
    truncation.py        what is visible at a checkpoint
    curation/            what is right at each checkpoint, and which questions are kept
    turns.py, probes.py  contexts -> turns; contexts and keys -> probes
    question.py          how a probe is put
    figures.py           verdicts -> figures, slice by slice
    speakers.py          wrong answers that are true of another speaker
    expectations/        what must hold of the rows
    scripted.py          handlers of the scripted chat
    reference.py         the figures that the paper publishes; starts.py: which of them fit together
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memflow.benchmarks.comem.benchmark import CoMem

__all__ = ["CoMem"]


def __getattr__(name: str) -> Any:
    """Import the benchmark's class on first use: its domains are listed by every command, its code is not needed."""
    if name != "CoMem":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memflow.benchmarks.comem.benchmark import CoMem  # noqa: PLC0415

    return CoMem
