"""The variable that lets another process import memflow and the helpers of the tests."""

import os
from pathlib import Path

TESTS = Path(__file__).parent
PYTHONPATH = {"PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
