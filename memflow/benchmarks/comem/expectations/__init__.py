"""What must hold of CoMem's rows: sentences of its own, passed over for other benchmarks.

speakers.py    of whom options are true
"""

from memflow.benchmarks.comem.expectations import speakers
from memflow.rules import Expectation

EXPECTED: tuple[Expectation, ...] = (*speakers.EXPECTED,)
