"""The program `python -m memflow.cli`: the command line without the script `memflow`."""

from memflow.cli import app

app()
