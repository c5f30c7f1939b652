"""The names of the baseline memories that store nothing. baselines.py implements these memories."""

PREVIOUS = "previous"
BOUNDS = ("none", "oracle", PREVIOUS)
"""The memories whose scores other memories are compared with: lower bound, upper bound, stale baseline."""
