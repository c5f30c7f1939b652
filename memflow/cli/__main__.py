"""`python -m memflow.cli`: the command line without its script."""

from memflow.cli import app

app()
