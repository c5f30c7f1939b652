"""What must hold of CoMem's rows, as data: sentences of its own, left out for other benchmarks.

keys.py      what is right at each checkpoint, by itself
probes.py    what is asked, against what is right and what was said by then
guesses.py   how far one comes without any memory; it warns
speakers.py  of whom options are true
"""

from memflow.benchmarks.comem.checks import labels, probes, speakers, verdicts
from memflow.checks.rules import of_benchmark

EXPECTED = of_benchmark("comem", (*labels.EXPECTED, *probes.EXPECTED, *verdicts.EXPECTED, *speakers.EXPECTED))
"""CoMem's own expectations."""
