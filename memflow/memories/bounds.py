"""The names of the memories that store nothing. baselines.py implements them."""

PREVIOUS = "previous"
BOUNDS = ("none", "oracle", PREVIOUS)
"""The scores of all other memories lie between those of `none` and `oracle`."""
