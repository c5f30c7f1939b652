"""What must hold of CoMem's rows: sentences of its own, passed over for other benchmarks."""

from memflow.rules import Expectation

EXPECTED: tuple[Expectation, ...] = ()
