"""What must hold of MemBench's rows, as data. Rules that hold of every benchmark's are memflow/expectations'.

rows.py         trajectories and questions, wherever they come from
noise.py        what lengthens them
graphs.py       users' lives
generated.py    what is told and asked of them
reflective.py   what is told and asked of likes and moods
"""

from memflow.benchmarks.membench.checks import generated, graphs, noise, reflective, rows
from memflow.checks.rules import of_benchmark

EXPECTED = of_benchmark(
    "membench",
    (*rows.EXPECTED, *noise.EXPECTED, *graphs.EXPECTED, *generated.EXPECTED, *reflective.EXPECTED),
)
"""MemBench's own expectations."""
