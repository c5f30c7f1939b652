"""Benchmarks of memflow's own speed. Each module is a command that prints one JSON line per measurement.

A line is {name, value, unit, peer, ratio, ...}. `ratio` compares with a peer program or a bound that was measured in
the same run, since machines differ. The exit code is 1 if a bound is missed. `python -m bench` runs all benchmarks.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # the stub server
