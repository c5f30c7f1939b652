"""The names of the baseline memories that store nothing. baselines.py implements these memories."""

PREVIOUS = "previous"
BOUNDS = ("none", "oracle", PREVIOUS)
"""The scores of all other memories lie between those of `none` and `oracle`."""
